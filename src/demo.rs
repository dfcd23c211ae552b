//! placeholder
use crate::{error::Error, process::Process};
#[derive(Debug, serde::Serialize)]
pub struct Told {}
pub fn play(_p: &Process, _json: bool) -> Result<Told, Error> {
    Ok(Told {})
}
