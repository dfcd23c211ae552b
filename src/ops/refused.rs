//! What a refusal from below becomes at the doors: its kind, its sentence, and the command that helps.

use crate::{
    domain::refusal::Refusal,
    error::{Error, INSTALL, Kind},
    store,
};

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        use Refusal as R;
        let kind = match &refusal {
            R::UnknownGoal(_)
            | R::UnknownGate(_)
            | R::UnknownTodo(_)
            | R::UnknownEvidence(_)
            | R::UnknownTurn(_)
            | R::UnknownSpend(_)
            | R::UnknownBypass(_) => Kind::NotFound,
            R::SeveralGoals(_) | R::GateInSeveralGoals { .. } | R::AmbiguousTodo { .. } => Kind::Usage,
            R::NoCriterion { .. } | R::GrantOutOfWindow { .. } | R::GrantOfNothing { .. } => Kind::Usage,
            R::QuestionChanged { .. } => Kind::Conflict,
            R::OfAPerson { .. } | R::CheckIsKept { .. } | R::NeedOfAPerson { .. } => Kind::PersonNeeded,
            _ => Kind::Refused,
        };
        let hint = match &refusal {
            R::NoGoal => Some("run `loopx goal add \"<objective>\"`".to_owned()),
            R::SeveralGoals(goals) => goals.first().map(|goal| format!("add `--goal-id {goal}`")),
            R::UnknownGoal(_) => Some("run `loopx goal list`".into()),
            R::GoalExists(goal) => {
                Some(format!("run `loopx goal show {goal}`, or choose another `--goal-id`"))
            }
            R::GoalNotActive { goal, .. } => Some(format!("run `loopx goal show {goal}`")),
            R::UnknownGate(_) => Some("run `loopx gate list --all`".into()),
            R::GateExists(gate) => {
                Some(format!("run `loopx gate show {gate}`, or choose another `--gate-id`"))
            }
            R::GateInSeveralGoals { goals, .. } => {
                goals.first().map(|goal| format!("add `--goal-id {goal}`"))
            }
            R::GateDecided { gate, .. } | R::QuestionChanged { gate } | R::NotRejected { gate } => {
                Some(format!("run `loopx gate show {gate}`"))
            }
            R::NothingSeen { gate } => {
                Some(format!("name one with `loopx gate resolve {gate} --decision approve --commit <rev>`"))
            }
            R::StandingOverWork => Some("leave `--todo` and `turn` out, or leave `--standing` out".into()),
            R::NotAnOption { options, .. } => {
                options.first().map(|option| format!("use `--decision {option}`, for example"))
            }
            R::ApproversNeeded { .. } | R::SignatureNeeded => {
                Some("run `loopx approver list` to see whose signature counts".into())
            }
            R::AskerAnswers { gate, .. } | R::SameApprover { gate, .. } | R::OutOfTime { gate, .. } => {
                Some(format!("run `loopx gate show {gate}`"))
            }
            R::NoApprovers => {
                Some("a person adds one with `loopx approver add <name> --key <file>.pub`".into())
            }
            R::NotAnApprover(_)
            | R::ApproverRemoved { .. }
            | R::ApproverExists(_)
            | R::KeyOfAnother { .. }
            | R::UnlistedKey
            | R::OtherKey { .. }
            | R::KeyExpired { .. }
            | R::KeyRevoked(_)
            | R::LastApprover(_) => Some("run `loopx approver list`".into()),
            R::SignedBefore { .. } => Some("look at the clock: `date`".into()),
            R::OtherNamespace { .. } | R::SignedElse(_) | R::NoSignature | R::WrongSignature { .. } => {
                Some("let loopx do the signing: `--sign-with <key file>`".into())
            }
            R::UnknownTodo(_) => Some("run `loopx todo list --all`".into()),
            R::AmbiguousTodo { candidates, .. } => {
                candidates.first().map(|todo| format!("write more of the id, such as `{todo}`"))
            }
            R::TodoClaimed { .. } | R::NeedsOpen { .. } | R::TodoForPerson { .. } => {
                Some("run `loopx quota should-run` for something to do".into())
            }
            R::TakenOver { .. } | R::NothingReady { .. } => {
                Some("run `loopx quota should-run`: it says what may be done now, and why".into())
            }
            R::OfAPerson { todo, what, .. } => {
                let verb = if *what == "change" { "edit" } else { what };
                Some(format!("ask the person to run `loopx todo {verb} {todo}` in a terminal"))
            }
            R::CheckIsKept { todo, .. } | R::NeedOfAPerson { todo, .. } => {
                Some(format!("ask the person to run `loopx todo edit {todo}` in a terminal"))
            }
            R::CheckNotPassed { todo, .. } => {
                Some(format!("run `loopx todo done {todo}` again: the check was changed meanwhile"))
            }
            R::TodoNotClosed { todo, .. }
            | R::NotBlocked { todo }
            | R::NoMonitor { todo }
            | R::Circle { todo, .. } => Some(format!("run `loopx todo show {todo}`")),
            R::IsAMonitor { todo } => Some(format!(
                "add todos with `loopx todo poll {todo} --changed --follow-up \"<what to do>\"`"
            )),
            R::GoalAlready { goal, .. } | R::GoalNotPaused { goal } => {
                Some(format!("run `loopx goal show {goal}`"))
            }
            R::GoalGated { gates, .. } => gates.first().map(|gate| format!("run `loopx gate show {gate}`")),
            R::GoalUnmet { missing, .. } => missing.first().map(|(number, _)| {
                format!("give `--met {number}=<evidence>`; `loopx evidence list` shows what there is")
            }),
            R::NotClaimed { todo } => Some(format!("run `loopx todo claim {todo}`")),
            R::TodoBlocked { on: Some(gate), .. } => Some(format!("run `loopx gate show {gate}`")),
            R::GateOverTodo { gate, answers, .. } => {
                Some(format!("a person answers it with {}", crate::text::Answer(gate, answers)))
            }
            R::TodoInOtherGoal { todo, .. } => Some(format!("run `loopx todo show {todo}`")),
            R::TodoBlocked { todo, on: None, .. } | R::TodoClosed { todo, .. } => {
                Some(format!("run `loopx todo show {todo}`"))
            }
            R::UnknownEvidence(_) => Some("run `loopx evidence list`".into()),
            R::UnknownBypass(_) => Some("run `loopx bypass list --all`".into()),
            R::BypassAcknowledged { bypass, .. } => Some(format!("run `loopx bypass show {bypass}`")),
            R::QuotaSpent { goal, .. } => Some(format!("run `loopx quota status --goal-id {goal}`")),
            R::GrantOutOfWindow { goal, .. } | R::GrantOfNothing { goal, .. } => Some(format!(
                "run `loopx quota grant --goal-id {goal} --slots 4 --for 2h --reason \"<why>\"`"
            )),
            R::NoCriterion { goal, .. } => Some(format!("run `loopx goal show {goal}`")),
            R::SpendVoided { .. } | R::SpendPast { .. } | R::UnknownSpend(_) => {
                Some("run `loopx history --op quota.spend` for what was booked".into())
            }
            R::UnknownTurn(turn) => Some(format!("run `loopx turn begin --turn-id {turn}`")),
            R::TurnNotBegun { .. } | R::TurnOver { .. } | R::TurnOfAnother { .. } => {
                Some("begin another one with `loopx turn begin`".into())
            }
            R::TurnGoesOn { turn, .. } => Some(format!("end it with `loopx turn end --turn-id {turn}`")),
            R::NoFreeId => Some("run the command again".into()),
        };
        let error = Self::new(kind, refusal.to_string());
        hint.into_iter().fold(error, Self::hint)
    }
}

impl From<store::Error> for Error {
    fn from(problem: store::Error) -> Self {
        use store::Error as S;
        let (kind, hints): (Kind, &[&str]) = match &problem {
            S::NotARepository(_) => (Kind::NotSetUp, &["run `git init` first, or go to a repository"]),
            S::Untrusted(_) => (
                Kind::Environment,
                &["run `git status` there: git says which `safe.directory` setting it wants"],
            ),
            S::Bare { worktree: Some(worktree), .. } => {
                return Self::new(Kind::NotSetUp, problem.to_string())
                    .hint(format!("go to one of them: `cd '{}'`", worktree.display()));
            }
            S::Bare { worktree: None, .. } => {
                (Kind::NotSetUp, &["add a worktree with `git worktree add <path>` and run loopx there"])
            }
            S::RefStorage(_) => (Kind::Environment, &["use a repository with refs in files or reftables"]),
            S::BadExport { .. } | S::NotWhole(_) => {
                (Kind::Refused, &["make a new one with `loopx export <file>` where the state is"])
            }
            S::EditedView => {
                (Kind::Refused, &["look at it with `git -C .loopx status`, and move away what is yours"])
            }
            S::NotNew(_) => (Kind::Conflict, &["run the command again"]),
            S::NotEmpty => (Kind::Refused, &["import into a fresh clone, after `loopx init`"]),
            S::NotInitialised => (Kind::NotSetUp, &["run `loopx init`"]),
            S::NoIdentity => (
                Kind::Environment,
                &["run `git config user.name \"<your name>\"` and `git config user.email <your address>`"],
            ),
            S::BadBranch(_) => (Kind::Usage, &["use a name such as `loopx/state`"]),
            S::BranchSetting(_) => (
                Kind::Environment,
                &["run `git config loopx.branch loopx/state`, or with the name that was chosen at `init`"],
            ),
            S::ForeignBranch(_) | S::BranchInTheWay { .. } => {
                (Kind::Refused, &["choose another name, such as `loopx init --state-branch loopx-state`"])
            }
            S::OtherBranch(branch) => {
                let error = Self::new(Kind::Refused, problem.to_string());
                return error.hint(format!(
                    "run `loopx init` without `--state-branch`, or see it with `git log {branch}`"
                ));
            }
            S::FolderInTheWay(_) => (Kind::Refused, &["move it away and run `loopx init` again"]),
            S::Unreadable { .. } => {
                (Kind::Distrusted, &["run `loopx verify`: it names the commit that did it, and the way back"])
            }
            S::Damaged(_) => (
                Kind::Distrusted,
                &["run `git fsck --full`: it names what is missing or damaged, to be fetched from a backup"],
            ),
            S::Foreign { branch, last, newer, is_unreadable, .. } => {
                let mut error = Self::new(Kind::Distrusted, problem.to_string());
                if let Some(newer) = newer {
                    let store::error::Newer { path, found, known } = newer.as_ref();
                    error = error.hint(format!(
                        "{INSTALL}: {path} on the state branch has format {found}, and this one reads up to {known}"
                    ));
                }
                let or = if error.hints.is_empty() { "" } else { "or, if nobody used a newer one, " };
                if let Some(last) = last {
                    error = error
                        .hint(format!("{or}put it back with `git update-ref refs/heads/{branch} {last}`"))
                        .hint(format!(
                            "or a person does, and sees first what is lost: `loopx restore --to {last}`"
                        ));
                }
                // What this loopx cannot read, nobody can take over with it.
                return match (newer, last) {
                    (Some(_), _) => error,
                    (None, Some(_)) if *is_unreadable => error,
                    (None, None) if *is_unreadable => {
                        error.hint("run `loopx verify`: it names the commit that did it")
                    }
                    (None, Some(_)) => {
                        error.hint("or, if it is right as it is, a person takes it over with `loopx init`")
                    }
                    (None, None) => {
                        error.hint("if it is right as it is, a person takes it over with `loopx init`")
                    }
                };
            }
            S::BrokenRef(path) => {
                let remove = format!(
                    "remove it with `rm '{}'`, and `loopx init` puts the branch back",
                    path.display()
                );
                return Self::new(Kind::Distrusted, problem.to_string()).hint(remove);
            }
            S::Redirected { left, .. } => {
                return Self::new(Kind::Distrusted, problem.to_string())
                    .hint(format!("set it back with `git config loopx.branch {left}`"));
            }
            S::UnknownRemote { known, .. } => {
                let hint = match known.first() {
                    Some(name) => format!("name one of them: `loopx remote set {name}`"),
                    None => "add it first: `git remote add <name> <address>`".to_owned(),
                };
                return Self::new(Kind::Refused, problem.to_string()).hint(hint);
            }
            S::NoTarget => {
                (Kind::Refused, &["a person says where it may go, with `loopx remote set <name>`"])
            }
            S::OtherAddress(name) | S::SeveralAddresses(name) => {
                let look = format!("look at it with `git remote get-url --push --all {name}`");
                let again = format!("a person lets the state go there with `loopx remote set {name}`");
                return Self::new(Kind::Refused, problem.to_string()).hint(look).hint(again);
            }
            S::Remote { remote, .. } => {
                let hint = format!("see whether git gets through with `git ls-remote {remote}`");
                return Self::new(Kind::Environment, problem.to_string()).hint(hint);
            }
            S::BadRemoteState { .. } => (
                Kind::Distrusted,
                &["nothing was changed; look at it with `git log --patch refs/loopx/remote`"],
            ),
            S::OtherRepository(_) => (
                Kind::Refused,
                &[
                    "choose another remote with `loopx remote set <name>`, or take that state into a fresh clone",
                    "or, if nothing of the state here is worth keeping, begin again: `loopx uninstall --purge`, `loopx init`, `loopx remote set <name>`, `loopx sync`",
                ],
            ),
            S::NoCommonPast { .. } => (
                Kind::Refused,
                &["a person gives up what is only here with `loopx sync --drop-ours`, and does it again"],
            ),
            S::Clash { base, .. } | S::CannotFollow { base, .. } => {
                let (theirs, ours) = ("refs/loopx/remote", &base[..10]);
                return Self::new(Kind::Refused, problem.to_string())
                    .hint(format!("nothing was changed; see what they did with `git log --patch {ours}..{theirs}`"))
                    .hint("a person lets go of what was done here with `loopx sync --drop-ours`, and does it again");
            }
            S::NotOfThePast { branch, .. } => {
                let look = format!("run `git log --walk-reflogs --oneline {branch} --` for where it was");
                return Self::new(Kind::Refused, problem.to_string()).hint(look);
            }
            S::NoWayBack { commit, before, .. } => {
                let hint = match before {
                    Some(before) => {
                        format!("all is well up to the one before it: `loopx restore --to {before}`")
                    }
                    None => format!("look at it with `git show {}`", &commit[..10]),
                };
                return Self::new(Kind::Refused, problem.to_string()).hint(hint);
            }
            S::NotForward(_) => (Kind::Refused, &["fetch first, with `loopx sync`"]),
            S::Illegal { .. } => (
                Kind::Distrusted,
                &["run `loopx verify --all` where the state comes from, and fetch it again"],
            ),
            S::IllegalHere { commit, before, .. } => {
                let hint = match before {
                    Some(before) => format!(
                        "all is well up to the one before it; a person goes back there, and sees first what is lost: `loopx restore --to {before}`"
                    ),
                    None => format!("look at it with `git show {}`", &commit[..10]),
                };
                return Self::new(Kind::Distrusted, problem.to_string()).hint(hint);
            }
            S::Newer { .. } => (Kind::Distrusted, &["install a newer loopx; nothing was changed"]),
            S::SecretRules(_) => (
                Kind::Environment,
                &["mend the file, or do without it: `git config --unset loopx.secretRules`"],
            ),
            S::Secret(found) => {
                let digest = &found.digest;
                return Self::new(Kind::Refused, problem.to_string())
                    .hint("say it without the secret, or add `--redact`, which puts a mark in its place")
                    .hint(format!(
                        "if it is none, a person lets it through with `loopx secret allow {digest} --reason <why>`"
                    ));
            }
            S::BringsSecret { found, .. } => {
                return Self::new(Kind::Refused, problem.to_string())
                    .hint(format!(
                        "if it is none, a person lets it through with `loopx secret allow {} --reason <why>`, here or where it comes from",
                        found.digest
                    ))
                    .hint("if it is one, make it worthless first; `loopx compact` where it comes from leaves the history behind that has it");
            }
            S::Busy(_) => (Kind::Conflict, &["run the command again when the other one has ended"]),
            S::Locked(_) => (
                Kind::Conflict,
                &[
                    "run the command again when the git command that holds it has ended; if there is none, remove that file",
                ],
            ),
            S::Contended(_) => (Kind::Conflict, &["run the command again"]),
            full if full.is_full() => (
                Kind::Environment,
                &[
                    "nothing was changed; make room (`df .` shows how much there is) and run the command again",
                ],
            ),
            closed if closed.is_of_a_closed_config() => {
                let what = format!(
                    "nothing was set: `.git/config` is read-only from here, as in the sandboxes of some agents ({closed})"
                );
                return Self::new(Kind::ReadOnly, what)
                    .hint("run it in a terminal outside of the sandbox; what needs no setting works here");
            }
            closed if closed.is_closed_to_writing() => {
                let what = format!(
                    "nothing was written: `.git` is read-only from here, as in the sandboxes of some agents ({closed})"
                );
                return Self::new(Kind::ReadOnly, what)
                    .hint("what only reads works here, such as `loopx status` and `loopx quota should-run`")
                    .hint("loopx's MCP server runs outside of an agent's sandbox and has the same as tools: a person sets it up with `loopx host install <host>`")
                    .hint("outside of a sandbox, `ls -ld .git .loopx` shows who may write there");
            }
            forbidden if forbidden.is_forbidden() => {
                (Kind::Environment, &["`ls -ld .git .loopx` shows who may read there"])
            }
            S::Io { .. } => (Kind::Environment, &["check the path and its permissions"]),
            S::Unasked { .. } => (
                Kind::Environment,
                &[
                    "`ssh-keygen` of OpenSSH looks at signatures, or `gpgv` of GnuPG: see whether it is on `PATH`",
                ],
            ),
            S::Git { .. } => (Kind::Environment, &["run `git fsck` to see whether the repository is sound"]),
            S::Address(_) => (Kind::Refused, &["run `git remote -v` for the addresses of your remotes"]),
            S::UnknownRevision(_) => (Kind::NotFound, &["run `git log --oneline` for commits that exist"]),
            S::UnknownFile(_) => (Kind::NotFound, &["name a file inside this worktree"]),
        };
        hints.iter().fold(Self::new(kind, problem.to_string()), |error, hint| error.hint(*hint))
    }
}
