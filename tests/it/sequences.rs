//! Random sequences of commands against a plain model; `cargo bench --bench torture -- sequences` plays ten thousand.

use proptest::prelude::*;

#[path = "../model/mod.rs"]
mod model;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn any_sequence_of_commands_does_what_a_plain_model_says(sequence in model::sequences()) {
        model::play(&sequence, &model::folder()).map_err(TestCaseError::fail)?;
    }
}
