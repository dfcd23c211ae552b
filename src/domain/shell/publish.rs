//! Programs that let something out of the machine, other than git.

/// Whether `program` with these arguments publishes, releases or merges.
pub(super) fn publishes(program: &str, args: &[&str]) -> bool {
    let plain: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let has = |option: &str| args.contains(&option);
    let first = plain.first().copied().unwrap_or_default();
    let second = plain.get(1).copied().unwrap_or_default();
    if has("--help") || has("-h") && program != "docker" {
        return false;
    }
    match program {
        "cargo" => {
            let verb = plain.iter().find(|arg| !arg.starts_with('+')).copied().unwrap_or_default();
            // `cargo release` of cargo-release changes nothing without `--execute`.
            matches!(verb, "publish" | "smart-release" | "workspaces")
                || verb == "release" && (has("--execute") || has("-x"))
        }
        "cargo-publish" => true,
        "npm" | "pnpm" | "bun" | "deno" | "cnpm" => first == "publish",
        "yarn" => first == "publish" || first == "npm" && second == "publish",
        "lerna" | "changeset" | "auto" => matches!(first, "publish" | "shipit" | "release"),
        "semantic-release" | "np" | "release-it" => !has("--dry-run"),
        "vsce" | "ovsx" | "jsr" | "flit" | "hatch" | "pdm" | "uv" | "poetry" | "rye" | "maturin" => {
            first == "publish" || program == "maturin" && first == "upload"
        }
        "twine" => first == "upload",
        "gem" | "oras" | "helm" | "nuget" | "cosign" => first == "push",
        "rake" => args.contains(&"release"),
        "docker" | "podman" | "buildah" | "nerdctl" => {
            first == "push"
                || matches!(first, "image" | "compose" | "manifest") && second == "push"
                || has("--push")
        }
        "docker-compose" => first == "push",
        "skopeo" | "crane" | "regctl" => matches!(first, "copy" | "sync" | "push" | "image"),
        "goreleaser" => first == "release" && !has("--snapshot") && !has("--skip=publish"),
        "mvn" | "mvnw" => args.iter().any(|arg| arg.contains("deploy") || arg.contains("release:perform")),
        "gradle" | "gradlew" => args.iter().any(|arg| arg.to_ascii_lowercase().contains("publish")),
        "sbt" => args.iter().any(|arg| arg.starts_with("publish") && *arg != "publishLocal"),
        "dotnet" => first == "nuget" && second == "push",
        "gh" | "glab" => forge(first, second, args),
        "hub" => matches!((first, second), ("release", "create" | "edit") | ("sync" | "merge", _)),
        "jj" => first == "git" && second == "push",
        "hg" => first == "push",
        "gt" => matches!(first, "submit" | "ss"),
        _ => false,
    }
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

/// A call of a forge's API that changes something.
fn writes(what: &str, args: &[&str]) -> bool {
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
    match method {
        _ if what == "graphql" => args.iter().any(|arg| arg.contains("mutation")),
        Some(method) => !method.eq_ignore_ascii_case("get") && !method.eq_ignore_ascii_case("head"),
        None => args.iter().any(sends),
    }
}
