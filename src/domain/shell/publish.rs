//! Programs that let something out of the machine, other than git.

/// Options before or behind a verb that have a value of their own, for each kind of program.
const NODE: &[&str] = &[
    "-w",
    "--workspace",
    "--prefix",
    "-C",
    "--dir",
    "--loglevel",
    "--filter",
    "-F",
    "--cwd",
    "--tag",
    "--access",
    "--registry",
    "--otp",
    "--userconfig",
    "--cache",
    "--config",
];
const CARGO: &[&str] = &[
    "--config",
    "--color",
    "-Z",
    "-C",
    "--manifest-path",
    "-p",
    "--package",
    "--registry",
    "--token",
    "-j",
    "--jobs",
    "--target-dir",
    "--target",
    "--index",
];
const FORGE: &[&str] = &[
    "-R",
    "--repo",
    "--hostname",
    "-X",
    "--method",
    "-H",
    "--header",
    "-f",
    "-F",
    "--field",
    "--raw-field",
    "--input",
    "-q",
    "--jq",
    "-t",
    "--template",
    "-p",
    "--preview",
    "--cache",
];
const CONTAINERS: &[&str] = &[
    "--context",
    "-c",
    "-H",
    "--host",
    "--config",
    "-l",
    "--log-level",
    "--tlscacert",
    "--tlscert",
    "--tlskey",
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--profile",
    "--connection",
    "--url",
    "--identity",
    "--namespace",
    "-n",
];
const MAVEN: &[&str] = &[
    "-pl",
    "--projects",
    "-f",
    "--file",
    "-P",
    "--activate-profiles",
    "-s",
    "--settings",
    "-rf",
    "-T",
    "-l",
];
const GRADLE: &[&str] = &[
    "-x",
    "--exclude-task",
    "-p",
    "--project-dir",
    "-b",
    "-c",
    "-I",
    "--init-script",
    "--tests",
    "-g",
    "--console",
];

/// Verbs of the same programs that let nothing out. What is behind one of them is not a verb.
const QUIET: [&str; 26] = [
    "run",
    "run-script",
    "test",
    "t",
    "exec",
    "x",
    "dlx",
    "install",
    "i",
    "ci",
    "view",
    "build",
    "check",
    "start",
    "help",
    "add",
    "remove",
    "info",
    "search",
    "pack",
    "version",
    "init",
    "create",
    "why",
    "list",
    "docs",
];

/// Programs that a runner of node's packages starts by their names alone.
const STARTED: [&str; 7] = ["changeset", "lerna", "semantic-release", "np", "release-it", "auto", "vsce"];

fn options(program: &str) -> &'static [&'static str] {
    match program {
        "npm" | "pnpm" | "yarn" | "bun" | "deno" | "cnpm" => NODE,
        "cargo" => CARGO,
        "gh" | "glab" | "hub" => FORGE,
        "docker" | "podman" | "buildah" | "nerdctl" | "docker-compose" | "helm" => CONTAINERS,
        "mvn" | "mvnw" => MAVEN,
        "gradle" | "gradlew" => GRADLE,
        _ => &[],
    }
}

/// The words that are neither options nor their values.
fn plain<'a>(args: &[&'a str], with_value: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            word if with_value.contains(&word) => drop(words.next()),
            word if word.starts_with('-') => {}
            word => found.push(word),
        }
    }
    found
}

/// The plain words, and, where an option that is not known stands in front of them and may have a value, those behind it.
fn readings<'a>(args: &[&'a str], with_value: &[&str]) -> Vec<Vec<&'a str>> {
    let first = plain(args, with_value);
    let at = args.iter().position(|word| Some(word) == first.first()).unwrap_or_default();
    let before = at.checked_sub(1).map(|at| args[at]).unwrap_or_default();
    let may_be_value =
        before.starts_with("--") && !before.contains('=') && !first.is_empty() && !QUIET.contains(&first[0]);
    let second = may_be_value.then(|| first[1..].to_vec());
    std::iter::once(first).chain(second).collect()
}

/// Whether `program` with these arguments publishes, releases or merges.
pub(super) fn publishes(program: &str, args: &[&str]) -> bool {
    if args.iter().any(|arg| matches!(*arg, "--help" | "-h")) {
        return false;
    }
    let args: Vec<&str> = match program {
        "cargo" => args.iter().copied().filter(|arg| !arg.starts_with('+')).collect(),
        _ => args.to_vec(),
    };
    readings(&args, options(program)).iter().any(|plain| publishes_as(program, &args, plain))
}

fn publishes_as(program: &str, args: &[&str], plain: &[&str]) -> bool {
    let has = |option: &str| args.contains(&option);
    let is_dry = has("--dry-run") || has("--dry-run=true");
    let first = plain.first().copied().unwrap_or_default();
    let second = plain.get(1).copied().unwrap_or_default();
    let started = || STARTED.contains(&first) && publishes(first, &behind(args, first));
    match program {
        "cargo" => match first {
            "publish" => !is_dry && !has("-n"),
            // These change nothing without it.
            "release" | "smart-release" => has("--execute") || has("-x"),
            "workspaces" | "ws" => second == "publish" && !is_dry,
            _ => false,
        },
        "cargo-publish" => !is_dry,
        "npm" | "pnpm" | "bun" | "deno" | "cnpm" => {
            matches!(first, "publish" | "pub" | "unpublish") && !is_dry || program != "npm" && started()
        }
        "yarn" => (first == "publish" || first == "npm" && second == "publish") && !is_dry || started(),
        "lerna" | "changeset" => first == "publish",
        "auto" => matches!(first, "shipit" | "release" | "publish") && !is_dry && !has("-d"),
        "semantic-release" | "release-it" => !is_dry && !has("-d"),
        "np" => !has("--preview"),
        "release-plz" => first == "release" && !is_dry,
        "vsce" | "ovsx" | "jsr" | "flit" | "hatch" | "pdm" | "uv" | "poetry" | "rye" | "maturin" | "elm"
        | "opam" => (first == "publish" || program == "maturin" && first == "upload") && !is_dry,
        "dart" | "flutter" => first == "pub" && matches!(second, "publish" | "lish") && !is_dry && !has("-n"),
        "mix" => matches!(first, "hex.publish") && !is_dry,
        "twine" | "cabal" | "stack" | "luarocks" | "anaconda" => first == "upload",
        "pod" => matches!((first, second), ("trunk" | "repo", "push")),
        "gem" | "oras" | "helm" | "nuget" => first == "push",
        "rake" => {
            let only_tells =
                ["-T", "-D", "-P", "-W", "-n", "--tasks", "--describe", "--dry-run", "--prereqs"];
            !only_tells.iter().any(|option| has(option))
                && plain.iter().any(|word| *word == "release" || word.starts_with("release["))
        }
        "docker" | "podman" | "buildah" | "nerdctl" => {
            first == "push"
                || matches!(first, "image" | "compose" | "manifest") && second == "push"
                || matches!(first, "build" | "buildx" | "image" | "builder" | "bake")
                    && (has("--push") || args.iter().any(|arg| arg.contains("type=registry")))
        }
        "docker-compose" => first == "push",
        "skopeo" => match first {
            "copy" => plain.last().is_some_and(|to| to.starts_with("docker://")),
            "sync" => !is_dry && args.windows(2).any(|two| matches!(two, ["-d" | "--dest", "docker"])),
            "delete" => true,
            _ => false,
        },
        "crane" => matches!(first, "push" | "copy" | "cp" | "append" | "tag" | "delete"),
        "regctl" => {
            matches!((first, second), ("image", "copy" | "cp" | "import" | "delete") | ("artifact", "put"))
        }
        "goreleaser" => {
            let only_tells = ["--snapshot", "--skip=publish", "--version", "-v"];
            matches!(first, "release" | "") && !only_tells.iter().any(|option| has(option))
        }
        "mvn" | "mvnw" => {
            let skips =
                args.iter().any(|arg| matches!(*arg, "-Dmaven.deploy.skip" | "-Dmaven.deploy.skip=true"));
            plain.iter().any(|word| match word.rsplit_once(':') {
                None => matches!(*word, "deploy" | "site-deploy") && !skips,
                Some((of, goal)) => {
                    goal.starts_with("deploy") && !skips || of.contains("release") && goal == "perform"
                }
            })
        }
        "gradle" | "gradlew" => {
            let is = |word: &&str| {
                let low = word.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
                let uploads = ["uploadarchives", "closeandrelease"].iter().any(|task| low.starts_with(task));
                low.starts_with("publish") && !low.contains("tomavenlocal") || uploads
            };
            !is_dry && !has("-m") && plain.iter().any(is)
        }
        "sbt" => plain.iter().any(|word| {
            let task = word.trim_start_matches('+').rsplit('/').next().unwrap_or_default();
            let is_local = task.starts_with("publishLocal") || task.starts_with("publishM2");
            task.starts_with("publish") && !is_local || task == "ci-release"
        }),
        "dotnet" => first == "nuget" && second == "push",
        "gh" | "glab" => forge(first, second, args),
        "hub" => matches!((first, second), ("release", "create" | "edit") | ("sync" | "merge", _)),
        "jj" => first == "git" && second == "push",
        "hg" => first == "push",
        "gt" => matches!(first, "submit" | "ss"),
        _ => false,
    }
}

fn behind<'a>(args: &[&'a str], word: &str) -> Vec<&'a str> {
    args.iter().copied().skip_while(|arg| *arg != word).skip(1).collect()
}

fn forge(first: &str, second: &str, args: &[&str]) -> bool {
    match (first, second) {
        ("pr" | "mr", "merge") => true,
        ("release", "create" | "upload" | "edit" | "delete") => true,
        ("repo", "sync" | "create") => true,
        ("workflow", "run") => true,
        ("api", what) => writes(what, args),
        _ => false,
    }
}

/// A call of a forge's API that changes more than what people say to each other.
fn writes(what: &str, args: &[&str]) -> bool {
    const TALK: [&str; 8] = [
        "issues",
        "comments",
        "labels",
        "reactions",
        "reviews",
        "requested_reviewers",
        "assignees",
        "notifications",
    ];
    let mut method = None;
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        match *arg {
            "-X" | "--method" => method = words.next().copied(),
            arg => {
                let said = arg.strip_prefix("--method=").or_else(|| arg.strip_prefix("-X"));
                method = said.filter(|said| !said.is_empty()).or(method);
            }
        }
    }
    let sends = |arg: &&str| {
        ["-f", "-F", "--field", "--raw-field", "--input"].iter().any(|option| arg.starts_with(option))
    };
    let mut below = what.trim_start_matches('/').split(['/', '?']).skip(3);
    match method {
        _ if what == "graphql" => {
            let query = |arg: &&str| {
                let said = arg.trim_start_matches("--raw-field=").trim_start_matches("--field=");
                said.trim_start_matches("-f").trim_start_matches("-F").starts_with("query=")
            };
            args.iter().any(|arg| query(arg) && arg.contains("mutation"))
        }
        _ if below.any(|part| TALK.contains(&part)) => false,
        Some(method) => !method.eq_ignore_ascii_case("get") && !method.eq_ignore_ascii_case("head"),
        None => args.iter().any(sends),
    }
}
