use std::{path::Path, sync::Arc};

use clap::Parser as _;

use super::{Answer, Cli, Global, NOT_NOW, Said, answer, context, document, fit_to_print, misused};
use crate::{
    caller::Caller,
    error::{Error, Kind},
    mcp::{Desk, Told, serve},
    ops::Ctx,
    process::{LOOPX_AGENT_ID, Process},
};

#[derive(Debug, clap::Args)]
pub(super) struct Mcp {
    /// Run the checks of todos that are completed, outside of whatever sandbox the host keeps its agent in
    #[arg(long)]
    run_checks: bool,
}

impl Mcp {
    pub(super) fn serve(self, process: &Process, global: Global) -> Result<Answer<'static>, Error> {
        let named = match global.agent_id.is_some() || process.env_os(LOOPX_AGENT_ID).is_some() {
            true => Some(Caller::of(process, global.agent_id.clone())?),
            false => None,
        };
        let streams = process.take_streams().map_err(|error| {
            Error::new(Kind::Environment, format!("standard input and output cannot be had: {error}"))
        })?;
        let process = if self.run_checks { process.clone() } else { process.without_commands() };
        serve(Arc::new(Counter { process, global }), named, streams)?;
        Ok(Answer::Silent(0))
    }
}

/// The command line, for a door that has the words already.
struct Counter {
    process: Process,
    global: Global,
}

impl Counter {
    fn run(&self, caller: &Caller, dir: Option<&Path>, words: &[String]) -> Result<Said, Error> {
        let line = ["loopx", "--json"].into_iter().chain(words.iter().map(String::as_str));
        let cli = Cli::try_parse_from(line).map_err(|error| misused(&fit_to_print(error)))?;
        let ctx = self.context(caller, dir)?;
        let answer = answer(&self.process, &ctx, cli.command, true);
        super::notify::tell(&self.process, &ctx);
        match answer? {
            Answer::Said(said) => Ok(said),
            Answer::Long(long) => long.held(),
            Answer::Silent(_) => Err(Error::new(Kind::Bug, "a command said nothing")),
        }
    }
}

impl Desk for Counter {
    fn tell(&self, caller: &Caller, dir: Option<&Path>, words: &[String]) -> Told {
        match self.run(caller, dir, words) {
            Ok(Said { mut text, json, warnings, code }) => {
                warnings.iter().for_each(|warning| text.push_str(&format!("warning: {warning}\n")));
                Told { text, json, is_fine: [0, NOT_NOW].contains(&code) }
            }
            Err(error) => Told::failed(self, &error),
        }
    }

    fn context(&self, caller: &Caller, dir: Option<&Path>) -> Result<Ctx, Error> {
        let mut global = self.global.clone();
        global.dir = dir.map(Path::to_path_buf).or(global.dir);
        // The caller is an agent, and named.
        if let Caller::Agent { agent, .. } = caller {
            global.agent_id = Some(agent.clone());
        }
        Ok(Ctx { caller: caller.clone(), ..context(&self.process, &global)? })
    }

    fn document(&self, error: &Error) -> String {
        document(error)
    }

    fn notify(&self, ctx: &Ctx) {
        super::notify::tell(&self.process, ctx);
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use serde_json::Value;

    use super::*;
    use crate::mcp::tools::{ALL, GATE_ASK};

    /// What a command takes and its tool does not: it takes a file or the terminal, or belongs to another tool.
    const NOT_THERE: [(&str, &str); 3] =
        [("todo_add", "from"), ("todo_add", "format"), ("handoff_write", "file")];

    #[test]
    fn a_tool_takes_what_its_command_takes() {
        for spec in ALL {
            let cli = Cli::command();
            let command = spec.command.iter().fold(&cli, |command, word| {
                command.find_subcommand(word).unwrap_or_else(|| panic!("{}: no command `{word}`", spec.name))
            });
            let schema = spec.schema();
            let properties = schema["properties"].as_object().expect("properties");
            let required: Vec<&str> = schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for (name, property) in properties {
                let place = format!("{}.{name}", spec.name);
                let long = name.replace('_', "-");
                let arg = command
                    .get_arguments()
                    .find(|arg| match spec.places.contains(&name.as_str()) {
                        true => arg.is_positional() && arg.get_id().as_str() == name,
                        false => arg.get_long() == Some(&long),
                    })
                    .unwrap_or_else(|| panic!("{place}: the command does not take it"));
                let is_required = arg.is_required_set();
                let is_there = required.contains(&name.as_str()) || spec.name == GATE_ASK;
                assert!(is_there || !is_required, "{place}: the command takes nothing else");
                let many = matches!(arg.get_action(), clap::ArgAction::Append);
                assert_eq!(property["type"] == "array", many, "{place}");
                assert_eq!(property["type"] == "boolean", !arg.get_action().takes_values(), "{place}");
                let one = if many { &property["items"] } else { property };
                let offered: Vec<&str> = one
                    .get("enum")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                let taken: Vec<String> = match arg.get_action().takes_values() {
                    true => {
                        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
                    }
                    false => Vec::new(),
                };
                assert_eq!(offered, taken, "{place}");
                assert!(property["description"].is_string(), "{place}");
            }
            for arg in command.get_arguments().filter(|arg| spec.name != GATE_ASK && arg.get_id() != "help") {
                let name = arg.get_long().unwrap_or(arg.get_id().as_str()).replace('-', "_");
                let known = properties.contains_key(&name) || NOT_THERE.contains(&(spec.name, &name));
                assert!(known, "{}: `{name}` is missing", spec.name);
            }
        }
    }

    #[test]
    fn an_argument_is_never_an_option() {
        let odd =
            ["--help", "-h", "-V", "--", "--agent-id=x", "-C/", "--json", "", "=", "a b", "a\0b", "@file"];
        for (spec, odd) in ALL.iter().flat_map(|spec| odd.map(|odd| (spec, odd))) {
            let schema = spec.schema();
            let all = schema["properties"].as_object().expect("properties").iter();
            let arguments = all.map(|(name, property)| {
                let value = match property["type"].as_str() {
                    Some("array") => serde_json::json!([odd, odd]),
                    Some("boolean") => Value::Bool(true),
                    _ => odd.into(),
                };
                (name.clone(), value)
            });
            let words = spec.words(&arguments.collect());
            let line = ["loopx"].into_iter().chain(words.iter().map(String::as_str));
            match Cli::try_parse_from(line) {
                Ok(cli) => assert!(cli.global.agent_id.is_none() && cli.global.dir.is_none(), "{words:?}"),
                Err(error) => assert!(error.use_stderr(), "{words:?}: {error}"),
            }
        }
    }

    #[test]
    fn no_tool_does_what_takes_a_person() {
        let persons = [
            "resolve",
            "withdraw",
            "reopen",
            "review",
            "acknowledge",
            "policy",
            "approver",
            "secret",
            "hooks",
            "uninstall",
            "restore",
            "compact",
            "sync",
            "remote",
            "init",
            "configure-goal",
            "resume",
            "achieve",
            "abandon",
            "import",
            "notify",
            "run",
        ];
        for spec in ALL {
            let does = spec.command.iter().find(|word| persons.contains(word));
            assert_eq!(does, None, "{}", spec.name);
        }
    }
}
