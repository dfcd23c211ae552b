//! Command lines, and what they would do.

use proptest::{collection::vec, prelude::*};

use super::*;

/// What a line would do, in short.
fn said(text: &str) -> String {
    let read = deeds(text, &Place::At(String::new()));
    let place = |place: &Place| match place {
        Place::At(path) if path.is_empty() => String::new(),
        Place::At(path) => format!("@{path}"),
        Place::Somewhere => "@?".to_owned(),
    };
    let mut all: Vec<String> = (read.found.iter())
        .map(|found| {
            let what = match &found.deed {
                Deed::Push(Push { remote, refs }) => {
                    let remote = remote.as_ref().map(|remote| format!(" {remote}"));
                    let refs = refs
                        .as_ref()
                        .filter(|refs| !refs.is_empty())
                        .map(|refs| format!(" {}", refs.join("+")));
                    format!("push{}{}", remote.unwrap_or_default(), refs.unwrap_or_default())
                }
                Deed::Publish => "publish".to_owned(),
                Deed::Unseen { act: Out::Push, .. } => "unseen".to_owned(),
                Deed::Unseen { act: Out::Publish, .. } => "unseen publish".to_owned(),
                Deed::SkipsHooks { .. } => "skips".to_owned(),
                Deed::TouchesHooks { .. } => "hooks".to_owned(),
                Deed::TouchesState { .. } | Deed::TakesGitAway { .. } => "state".to_owned(),
                Deed::TouchesHost { path } => format!("host {path}"),
                Deed::WritesRef { names } => format!("ref {}", names.join("+")),
                Deed::AsksForPerson { .. } => "person".to_owned(),
            };
            what + &place(&found.place)
        })
        .collect();
    all.extend(read.scripts.iter().map(|script| {
        let what = match &script.what {
            Text::File { path, .. } => format!("file {path}"),
            Text::Program { path } => format!("program {path}"),
            Text::Task { names, .. } => format!("task {}", names.join("+")),
            Text::Alias { name, .. } => format!("alias {name}"),
        };
        what + &place(&script.place)
    }));
    all.sort();
    all.dedup();
    all.join(", ")
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = (table.iter())
        .filter(|(text, expected)| said(text) != *expected)
        .map(|(text, expected)| format!("{text}\n  expected {expected:?}\n  said     {:?}", said(text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

#[test]
fn a_push_is_seen_however_it_is_written() {
    check(&[
        ("git push", "push"),
        ("git push origin main", "push origin main"),
        ("git push -u origin HEAD:refs/heads/x", "push origin HEAD:refs/heads/x"),
        ("git push origin +main", "push origin +main"),
        ("git push --force-with-lease origin main dev", "push origin main+dev"),
        ("git push --all", "push"),
        ("git push --tags origin", "push origin"),
        ("git push origin --delete x", "push origin :x"),
        ("git push -o ci.skip origin main", "push origin main"),
        ("git push $REMOTE main", "push main"),
        ("git push origin \"$BRANCH\"", "push origin"),
        ("git push origin $(git branch --show-current)", "push origin"),
        ("/usr/bin/git push", "push"),
        ("\\git push", "push"),
        ("'git' push", "push"),
        ("g\"i\"t pu''sh", "push"),
        ("git $'pu\\x73h'", "push"),
        ("git \\\n  push", "push"),
        ("\tgit   push  ", "push"),
        ("git -C ../other push", "push@../other"),
        ("git --git-dir=/srv/x.git push", "push@/srv/x.git"),
        ("GIT_DIR=/srv/x.git git push", "push@/srv/x.git"),
        ("git -c user.name=x -c push.default=current push", "push"),
        ("git -c alias.x=push x origin main", "push origin main"),
        ("git -c alias.x='!git push' x", "push"),
        ("git --no-pager push", "push"),
        ("cd sub && git push", "push@sub"),
        ("cd sub; cd ../x; git push", "push@sub/../x"),
        ("(cd sub && git status) && git push", "push"),
        ("cd \"$DIR\" && git push", "push@?"),
        ("cd && git push", "push@~"),
        ("git add . && git commit -m x && git push", "push"),
        ("git status; git push", "push"),
        ("git push & wait", "push"),
        ("git push | cat", "push"),
        ("yes | git push", "push"),
        ("false || git push", "push"),
        ("! git push", "push"),
        ("time git push", "push"),
        ("time -p git push", "push"),
        ("{ git push; }", "push"),
        ("(git push)", "push"),
        ("echo $(git push)", "push"),
        ("echo `git push`", "push"),
        ("echo \"$(git push)\"", "push"),
        ("x=$(git push)", "push"),
        ("cat <(git push)", "push"),
        ("git log > >(git push)", "push"),
        ("echo ${X:-$(git push)}", "push"),
        ("if git push; then echo ok; fi", "push"),
        ("if true; then git push; fi", "push"),
        ("for r in a b; do git push $r; done", "push"),
        ("for c in push; do git $c; done", "push"),
        ("while ! git push; do sleep 1; done", "push"),
        ("case $1 in a) git push;; *) ls;; esac", "push"),
        ("case x in\n  push) ls ;;\n  *) git push ;;\nesac", "push"),
        ("f() { git push; }; f", "push"),
        ("[[ -n $X && $Y < 3 ]] && git push", "push"),
        ("((i++)); git push", "push"),
        ("bash -c 'git push'", "push"),
        ("bash -lc \"git push origin main\"", "push origin main"),
        ("sh -ec 'cd sub; git push'", "push@sub"),
        ("bash -o pipefail -c 'git push'", "push"),
        ("bash -c 'bash -c \"git push\"'", "push"),
        ("bash -c \"bash -c 'bash -c \\\"git push\\\"'\"", "push"),
        ("eval git push", "push"),
        ("eval 'git push' origin", "push origin"),
        ("X=push; git $X", "push"),
        ("X='git push'; $X", "push"),
        ("X='git push'; eval \"$X\"", "push"),
        ("export X=push; bash -c 'git $X'", "push"),
        ("G=git; P=push; $G $P origin", "push origin"),
        ("env X=1 git push", "push"),
        ("env -i PATH=/bin git push", "push"),
        ("env -S 'git push'", "push"),
        ("env -C sub git push", "push@sub"),
        ("X=1 Y=2 git push", "push"),
        ("sudo git push", "push"),
        ("sudo -u ann -E git push", "push"),
        ("nohup git push &", "push"),
        ("timeout -k 5 60 git push", "push"),
        ("nice -n 5 git push", "push"),
        ("command git push", "push"),
        ("exec git push", "push"),
        ("stdbuf -oL git push", "push"),
        ("setsid git push", "push"),
        ("flock /tmp/x git push", "push"),
        ("flock /tmp/x -c 'git push'", "push"),
        ("echo origin | xargs git push", "push, push origin"),
        ("echo push | xargs -n1 git", "push"),
        ("printf 'push' | xargs git", "push"),
        ("find . -maxdepth 0 -exec git push \\;", "push"),
        ("find . -exec sh -c 'git push' \\;", "push"),
        ("watch -n 5 'git push'", "push"),
        ("script -qc 'git push' /dev/null", "push"),
        ("tmux new -d 'git push'", "push"),
        ("trap 'git push' EXIT", "push"),
        ("poetry run git push", "push"),
        ("direnv exec . git push", "push"),
        ("nix develop -c git push", "push"),
        ("loopx evidence run -- git push", "push"),
        ("git submodule foreach git push", "push"),
        ("git rebase --exec 'git push' main", "push"),
        ("git bisect run git push", "push"),
        ("git subtree push --prefix=x origin y", "push"),
        ("git lfs push origin main", "push"),
        ("git svn dcommit", "push"),
        ("git-push origin", "push origin"),
        ("/usr/lib/git-core/git-push origin", "push origin"),
        ("{git,push}", "push"),
        ("echo 'git push' | sh", "push"),
        ("printf 'git %s' push | bash", "push"),
        ("bash <<EOF\ngit push\nEOF", "push"),
        ("cat <<'EOF' | bash\ngit push\nEOF\n", "push"),
        ("bash <<-EOF\n\tgit push\n\tEOF\nls", "push"),
        ("bash -s <<< 'git push'", "push"),
        ("cat <<EOF\n$(git push)\nEOF", "push"),
        ("ls\ngit push\nls", "push"),
        ("# a comment\ngit push # origin", "push"),
        ("alias p='git push'; p", "push"),
        ("function f { git push; }; f", "push"),
        ("function f() { git push; }; f", "push"),
        ("function f { if true; then git push; fi; }; f", "push"),
        ("git config alias.ship '!git push --no-verify'; git ship", "push, skips"),
        ("git config --global alias.Ship push && git ship origin", "push origin"),
        ("watch git push", "push"),
        ("watch -n 5 git push", "push"),
        ("parallel git push ::: origin", "push origin"),
        ("parallel -j 4 git {} ::: push", "push"),
        ("parallel ::: 'git push'", "push"),
        ("echo origin | parallel git push", "push origin"),
        ("runuser -u bob -- git push", "push"),
        ("npx -c 'git push'", "push"),
        ("npm exec -c 'git push'", "push"),
        ("cross-env A=1 git push", "push"),
        ("git difftool -x 'git push'", "push"),
        ("git difftool --extcmd='git push'", "push"),
        ("GIT_EDITOR='git push #' git commit", "push"),
        ("export EDITOR='git push'; git commit", "push"),
        ("export EDITOR='git push'; bash -c 'git commit'", "push"),
        ("git -c core.editor='git push' commit", "push"),
        ("git -c core.pager='git push' log", "push"),
        ("make -f - <<EOF\nall:\n\t@git push\nEOF", "push"),
        ("hub push", "push"),
        ("echo 'git push' > x.sh; sh x.sh", "file x.sh, push"),
        ("cat > x.sh <<'EOF'\ngit push\nEOF\nchmod +x x.sh && ./x.sh", "file ./x.sh, push"),
        ("echo 'git push' | tee x.sh; bash ./x.sh", "file ./x.sh, push"),
    ]);
}

#[test]
fn what_cannot_be_followed_and_sounds_like_a_push_counts_as_one() {
    check(&[
        ("git $VERB", "unseen"),
        ("$GIT push origin", "unseen"),
        ("\"$(which git)\" push", "unseen"),
        ("$(echo git push)", "unseen"),
        ("source <(echo git push)", "unseen"),
        (". <(echo git push)", "unseen"),
        ("g?t push", "unseen"),
        ("echo 'git push", "unseen"),
        ("bash -c \"$(echo git push)\"", "unseen"),
        ("echo Z2l0IHB1c2g= | base64 -d | sh", "unseen"),
        ("python3 -c 'import subprocess; subprocess.run([\"git\", \"push\"])'", "unseen"),
        ("node -e \"require('child_process').execSync('git push')\"", "unseen"),
        ("perl -e 'system(\"git push\")'", "unseen"),
        ("awk 'BEGIN{system(\"git push\")}'", "unseen"),
        ("expect -c 'spawn git push'", "unseen"),
        ("python3 - <<EOF\nimport os\nos.system('cargo publish')\nEOF", "unseen publish"),
        ("python3 -c 'import git; git.Repo(\".\").remote().push()'", "unseen"),
    ]);
}

#[test]
fn publishers_are_known() {
    for line in [
        "cargo publish",
        "cargo +nightly publish",
        "CARGO_REGISTRY_TOKEN=x cargo publish -p core",
        "cargo release --execute",
        "npm publish",
        "npm publish --access public",
        "pnpm publish -r",
        "yarn publish",
        "yarn npm publish",
        "bun publish",
        "npx semantic-release",
        "npx lerna publish",
        "twine upload dist/*",
        "python -m twine upload dist/*",
        "python setup.py sdist upload",
        "uv publish",
        "poetry publish --build",
        "uv run twine upload dist/*",
        "gem push x.gem",
        "docker push x/y",
        "docker image push x/y",
        "docker buildx build --push .",
        "podman push x",
        "goreleaser release --clean",
        "helm push x.tgz oci://y",
        "mvn -B deploy",
        "./gradlew publish",
        "dotnet nuget push x.nupkg",
        "gh release create v1",
        "gh pr merge 7 --squash",
        "gh repo sync",
        "gh api -X PUT repos/a/b/pulls/7/merge",
        "gh api repos/a/b/git/refs -f ref=refs/heads/x -f sha=1",
        "jj git push",
        "npm pub",
        "npm -w pkg publish",
        "npm --prefix . publish",
        "npm --prefix x publish",
        "npm -C sub publish",
        "npm --loglevel silent publish",
        "npm --odd value publish",
        "pnpm --filter x publish",
        "yarn --cwd . publish",
        "cargo --config a=b publish",
        "cargo --color never publish",
        "cargo -Z x publish",
        "cargo --odd value publish",
        "gh -R o/r pr merge 3",
        "gh pr -R o/r merge 3",
        "gh pr merge -R o/r 3",
        "docker --context x push y",
        "docker -H tcp://x push y",
        "docker compose -f x.yml push",
        "corepack pnpm publish",
        "pnpm changeset publish",
        "yarn changeset publish",
        "yarn lerna publish",
        "uvx twine upload dist/*",
        "pipx run twine upload dist/*",
        "uv tool run twine upload dist/*",
        "goreleaser",
        "goreleaser --clean",
        "release-plz release",
        "mix hex.publish",
        "cabal upload x.tar.gz",
        "pod trunk push",
        "skopeo copy dir:/x docker://a",
        "cargo workspaces publish",
        "cargo smart-release --execute x",
        "mvn -pl core clean deploy",
        "gradle :core:publishAllPublications",
        "sbt +core/publish",
        "rake release",
        "gh api graphql -f query='mutation { x }'",
        "bash -c 'npm publish'",
    ] {
        assert_eq!(said(line), "publish", "{line}");
    }
}

#[test]
fn what_only_looks_like_it_passes() {
    for line in [
        "",
        " ",
        "ls",
        "ls -la && pwd",
        "git status",
        "git log --grep push",
        "git log --grep='git push'",
        "git log -S 'cargo publish' --oneline",
        "git stash push -m wip",
        "git config --get push.default",
        "git config push.default simple",
        "git config core.hooksPath",
        "git config --get core.hooksPath",
        "git commit -m 'git push --no-verify'",
        "git commit -m \"say why \\`git push\\` is refused\"",
        "git commit -m 'Push the door; git push works'",
        "git commit --no-verify -m x",
        "git commit -m \"$(cat <<'EOF'\nDon't push: `git push --no-verify` (it's (odd)\nEOF\n)\"",
        "gh pr create --title x --body \"$(cat <<'EOF'\n## What\n- `git push` isn't run\nEOF\n)\"",
        "git commit -F - <<'EOF'\ngit push\nEOF",
        "alias gp='git push'",
        "git commit -nm x",
        "git diff push.rs",
        "git show HEAD:docs/push.md",
        "git remote set-url --push origin x",
        "git push --help",
        "git push -h",
        "git help push",
        "git branch --list loopx/state",
        "git branch -a",
        "git add push.rs",
        "git grep -n 'git push'",
        "git rev-parse HEAD",
        "echo \"git push\"",
        "echo git push",
        "echo 'git push --no-verify' >> notes.md",
        "printf 'git push\\n' > script.txt",
        "grep -r 'npm publish' .",
        "grep -rn \"git push\" src | head",
        "rg 'core.hooksPath'",
        "sed -n '/git push/p' README.md",
        "cat <<'EOF' > docs/x.md\ngit push --no-verify\nEOF",
        "cat > x.md <<EOF\nrun \\`git push\\`\nEOF",
        "cat .git/hooks/pre-push",
        "cat .loopx/loopx.toml",
        "ls .git/hooks .loopx",
        "cp .git/hooks/pre-push.sample /tmp/x",
        "cat .git/config | grep url",
        "cargo build --release",
        "cargo test publish",
        "cargo package --list",
        "npm install",
        "npm view x",
        "npm pack",
        "docker build -t x .",
        "docker run x ls",
        "gh pr view 7",
        "gh pr list",
        "gh api repos/a/b/pulls",
        "gh api graphql -f query='query { viewer { login } }'",
        "gh release list",
        "goreleaser release --snapshot",
        "loopx status",
        "loopx gate list",
        "loopx gate open 'Ship?' --gate-id ship",
        "loopx gate resolve --help",
        "loopx todo add 'git push'",
        "loopx hook claude PreToolUse",
        "command -v git",
        "which git",
        "type git",
        "man git-push",
        "vim push.rs",
        "HUSKY=0 npm ci",
        "rm -rf target",
        "mkdir -p .github/hooks",
        "echo x > .gitignore",
        "touch .gitattributes",
        "for f in *.rs; do echo $f; done",
        "case $1 in push) echo x;; esac",
        "[[ $1 == push ]]",
        "python3 -c 'print(1)'",
        "awk '{print $1}' push.txt",
        "# git push",
        "true # git push",
        "ssh host uptime",
        "find . -name '*.rs' -exec grep -l push {} +",
        "xargs grep push < files",
        "test -f .git/hooks/pre-push",
        "jq '.push' x.json",
    ] {
        assert_eq!(said(line), "", "{line}");
    }
}

#[test]
fn what_is_only_said_tried_or_kept_here_passes() {
    for line in [
        "python3 -c \"print('git push')\"",
        "python3 - <<'EOF'\n\"\"\"Checks that nobody runs git push by hand.\"\"\"\nimport subprocess\nsubprocess.run(['ls'])\nEOF",
        "python3 - <<'EOF'\nimport os\n# Don't git push here.\nos.system('ls')\nprint('now run git push')\nEOF",
        "node - <<'EOF'\n// this module checks that git push works\nrequire('child_process').execSync('ls') // not git push\nEOF",
        "node - <<'EOF'\n/* git push\n * npm publish */\nspawn('ls');\nEOF",
        "awk '/git push/ {print}' x",
        "node -e \"console.log('npm publish')\"",
        "ruby -e 'puts \"gem push\"'",
        "cp my-hook .git/hooks/commit-msg",
        "chmod +x .git/hooks/commit-msg",
        "rm .git/hooks/pre-commit.sample",
        "rm .git/hooks/pre-push.sample",
        "cargo publish --dry-run",
        "cargo publish -n",
        "npm publish --dry-run",
        "pnpm publish --dry-run",
        "git lfs push --dry-run origin main",
        "mvn -Dmaven.deploy.skip=true install",
        "mvn -pl deploy-module test",
        "gradle publishToMavenLocal",
        "sbt publishM2",
        "sbt publishLocal",
        "cargo workspaces list",
        "cargo smart-release x",
        "skopeo copy docker://a dir:/x",
        "skopeo sync --dry-run --src docker --dest docker x y",
        "regctl image inspect x",
        "rake -T release",
        "auto release --dry-run",
        "docker push -h",
        "docker run -h x y",
        "gh api repos/o/r/issues/1/comments -f body=hi",
        "gh api graphql -f query='query{x}' -F note='no mutation'",
        "loopx guard run --for publish -- cargo publish",
        "git config -f /tmp/x.cfg core.hooksPath x",
        "git config --file=x.cfg core.hooksPath x",
        "sh -n scripts/deploy.sh",
        "npm view publish",
        "goreleaser check",
        "goreleaser --version",
    ] {
        assert_eq!(said(line), "", "{line}");
    }
    check(&[
        ("git -C .loopx fetch", "ref @.loopx"),
        ("./gradlew :publish-plugin:test", "file ./gradlew"),
        ("npm --silent run publish", "task prepublish+publish+postpublish"),
        ("loopx guard run --for publish -- git push", "push"),
        ("python3 - <<'EOF'\nimport os # nothing\nos.system('git push')\nEOF", "unseen"),
        ("node -e \"fetch('http://x'); require('child_process').execSync('git push')\"", "unseen"),
        ("ruby -e 'puts `git push`'", "unseen"),
        ("cp x .git/hooks/pre-commit", "hooks"),
        ("rm -rf .git/hooks", "hooks"),
        ("git config -f .git/config core.hooksPath x", "hooks"),
    ]);
}

#[test]
fn what_goes_round_a_hook_is_seen() {
    check(&[
        ("git push --no-verify", "push, skips"),
        ("git push --no-verif origin", "push origin, skips"),
        ("git push origin main --no-verify", "push origin main, skips"),
        ("git -c core.hooksPath=/dev/null push", "push, skips"),
        ("git -c CORE.HOOKSPATH= push", "push, skips"),
        ("git -ccore.hooksPath=x push", "push, skips"),
        ("git -c hook.loopx.enabled=false push", "push, skips"),
        ("git -c hook.pre-push.enabled=false push", "push, skips"),
        ("git --config-env=core.hooksPath=X push", "push, skips"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/x git push", "push, skips"),
        ("GIT_CONFIG_PARAMETERS=\"'core.hooksPath=/x'\" git push", "push, skips"),
        ("HUSKY=0 git push", "push, skips"),
        ("LEFTHOOK=0 git push", "push, skips"),
        ("export HUSKY=0; git push", "push, skips"),
        ("env HUSKY=0 bash -c 'git push'", "push, skips"),
        ("SKIP=loopx-gate git push", "push, skips"),
        ("git send-pack origin main", "push, skips"),
        ("bash -c 'git push --no-verify'", "push, skips"),
        ("python3 -c 'os.system(\"git push --no-verify\")'", "skips, unseen"),
        ("$GIT push --no-verify", "skips, unseen"),
        ("git push -n", "push"),
        ("git push --no-verbose", "push"),
    ]);
}

#[test]
fn hooks_and_their_settings_are_watched() {
    for line in [
        "git config core.hooksPath /dev/null",
        "git config --local core.hooksPath x",
        "git config --global core.hooksPath x",
        "git config set core.hooksPath x",
        "git config --unset core.hooksPath",
        "git config unset core.hooksPath",
        "git config hook.loopx.enabled false",
        "git config --unset-all hook.loopx.event",
        "git config --remove-section hook.loopx",
        "git config remove-section hook.loopx",
        "git config hook.pre-push.enabled false",
        "git config --edit",
        "rm .git/hooks/pre-push",
        "rm -f ./.git/hooks/*",
        "rm -f .git/h*",
        "mv .git/hooks/pre-push /tmp",
        "cp x .git/hooks/pre-push",
        "chmod -x .git/hooks/pre-push",
        "echo x > .git/hooks/pre-push",
        "echo x >> \".git/config\"",
        "tee .git/hooks/pre-push < x",
        "sed -i s/loopx// .git/config",
        "cd .git/hooks && rm pre-push",
        "cd .git; rm -rf hooks",
        "ln -sf /bin/true .git/hooks/pre-push",
        "truncate -s 0 .git/hooks/pre-push",
        "find .git/hooks -delete",
        "find .git/hooks -type f -exec rm {} +",
        "bash -c 'rm .git/hooks/pre-push'",
        "python3 -c 'open(\".git/hooks/pre-push\", \"w\")'",
        "rm sub/../.git/hooks/pre-push",
        "rm .GIT/HOOKS/pre-push",
        "sudo rm /home/ann/repo/.git/hooks/pre-push",
        "dd if=/dev/null of=.git/hooks/pre-push",
        "cp -t .git/hooks pre-push",
    ] {
        assert_eq!(said(line).split('@').next().unwrap(), "hooks", "{line}");
    }
}

#[test]
fn what_only_loopx_writes_is_watched() {
    check(&[
        ("rm -rf .loopx", "state"),
        ("echo x > .loopx/loopx.toml", "state"),
        ("sed -i s/open/resolved/ .loopx/goals/ship/gates/x.toml", "state"),
        ("rm -rf .git/loopx", "state"),
        ("rm -rf /tmp/x/.git", "state@/tmp/x"),
        ("rm -rf ../x/.git ./y/../.loopx", "state, state@../x"),
        ("cp x srv/Bare.git/hooks/pre-push", "hooks@srv/Bare.git"),
        ("rm .git/refs/heads/loopx/state", "state"),
        ("rm -rf .git", "state"),
        ("mv .git /tmp/x", "state"),
        ("git -C .loopx commit -am x", "state@.loopx"),
        ("cd .loopx && git reset --hard HEAD~1", "state@.loopx"),
        ("git worktree remove .loopx", "state"),
        ("git config loopx.branch other", "state"),
        ("git config --remove-section loopx", "state"),
        ("git update-ref refs/heads/loopx/state HEAD", "ref refs/heads/loopx/state+HEAD"),
        ("git branch -D loopx/state", "ref loopx/state"),
        ("git branch -f loopx/state HEAD~1", "ref loopx/state+HEAD~1"),
        ("git branch -m loopx/state x", "ref loopx/state+x"),
        ("git checkout -B loopx/state HEAD", "ref loopx/state+HEAD"),
        ("git fetch . HEAD:refs/heads/loopx/state", "ref .+HEAD+refs/heads/loopx/state"),
        ("git push . HEAD:loopx/state", "push . HEAD:loopx/state, ref loopx/state+HEAD"),
        ("git update-ref --stdin < x", "state"),
        ("python3 -c 'open(\".loopx/loopx.toml\", \"w\")'", "state"),
        ("node -e \"require('fs').rmSync('.git/hooks/pre-push')\"", "hooks"),
    ]);
}

#[test]
fn files_of_hosts_are_watched() {
    check(&[
        ("rm -rf .claude", "host .claude"),
        ("rm -rf .claude*", "host .claude*"),
        ("rm -f .claude/*", "host .claude/*"),
        ("cd .claude && rm settings.json", "host .claude/settings.json"),
        ("mv .codex /tmp/x", "host .codex"),
        ("sed -i /loopx/d .claude/settings.json", "host .claude/settings.json"),
        ("echo '{}' > ~/.gemini/settings.json", "host ~/.gemini/settings.json"),
        (
            "echo '{\"disableAllHooks\":true}' > .claude/settings.local.json",
            "host .claude/settings.local.json",
        ),
        ("git rm -f .claude/settings.json", "host .claude/settings.json"),
        ("git mv .cursor x", "host .cursor"),
        ("rm .github/hooks/loopx.json", "host .github/hooks/loopx.json"),
        ("rm .opencode/plugin/loopx.js opencode.json", "host .opencode/plugin/loopx.js, host opencode.json"),
        ("python3 -c 'open(\".claude/settings.json\", \"w\")'", "host .claude/settings.json"),
        ("claude mcp remove loopx", "person"),
        ("codex mcp remove loopx", "person"),
        ("echo '[core] hooksPath = x' >> ~/.gitconfig", "hooks"),
        ("cat .claude/settings.json", ""),
        ("sed -n 1p .claude/settings.json", ""),
        ("mkdir -p .claude/agents", ""),
        ("echo x > .claude/agents/a.md", ""),
        ("rm -rf .github/workflows/old.yml", ""),
        ("claude mcp list", ""),
        ("claude mcp add --scope user loopx -- loopx mcp", ""),
        ("echo x > tests/x/.gitconfig", ""),
    ]);
}

#[test]
fn a_step_for_a_person_is_seen_through_a_terminal() {
    for line in [
        "loopx resolve-gate --gate-id x --decision approve",
        "loopx gate resolve x --decision approve",
        "loopx --agent-id x gate withdraw x --reason y",
        "env -u CLAUDECODE loopx gate resolve x --decision approve",
        "script -qc 'loopx gate resolve x --decision approve' /dev/null",
        "expect -c 'spawn loopx gate resolve x; send \"x\\r\"'",
        "python3 -c 'import pty; pty.spawn([\"loopx\", \"gate\", \"resolve\", \"x\"])'",
        "loopx hooks uninstall",
        "loopx hooks strict off",
        "loopx uninstall",
        "loopx restore --to abc",
        "loopx compact --apply",
        "loopx goal achieve ship",
        "yes | loopx policy set approval=terminal; loopx approver add x --key y",
    ] {
        assert_eq!(said(line), "person", "{line}");
    }
}

/// The page is made from the rules of who may do what.
#[test]
fn what_is_refused_to_every_agent_is_a_step_for_a_person() {
    // Whether these are for a person depends on what they are about.
    let depends =
        ["configure-goal", "todo claim", "todo unblock", "todo done", "todo drop", "policy set", "init"];
    let page = include_str!("../../../docs/authority.md");
    let mut steps = 0;
    for row in page.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, command, _, "refused", ..] = cells[..] else { continue };
        let command = command.trim_matches('`');
        let words = command.trim_start_matches("loopx ");
        if !command.starts_with("loopx ") || depends.iter().any(|step| words.starts_with(step)) {
            continue;
        }
        steps += 1;
        assert_eq!(said(&command.replace(['<', '>'], "")), "person", "{command}");
    }
    assert!(steps > 15, "the table is read");
}

#[test]
fn texts_that_would_be_run_are_named() {
    check(&[
        ("sh deploy.sh", "file deploy.sh"),
        ("bash -e scripts/deploy.sh prod", "file scripts/deploy.sh"),
        ("./deploy.sh", "file ./deploy.sh"),
        ("cd x && ./deploy.sh", "file ./deploy.sh@x"),
        (". ./env.sh", "file ./env.sh"),
        ("source env.sh", "file env.sh"),
        ("cat x.sh | bash", "file x.sh"),
        ("bash < x.sh", "file x.sh"),
        ("python3 deploy.py", "program deploy.py"),
        ("sudo ./deploy.sh", "file ./deploy.sh"),
        ("make deploy", "task deploy"),
        ("make -C sub -j4 deploy X=1", "task deploy@sub"),
        ("just release", "task release"),
        ("npm run deploy", "task predeploy+deploy+postdeploy"),
        ("npm test", "task pretest+test+posttest"),
        ("yarn deploy", "task predeploy+deploy+postdeploy"),
        ("git p origin", "alias p"),
    ]);
}

#[test]
fn an_alias_is_a_command_line() {
    assert_eq!(alias("push --no-verify", &["origin".into()]), "git push --no-verify origin");
    assert_eq!(said(&alias("!f() { git push; }; f", &["a b".into()])), "push");
}

#[test]
fn nothing_is_followed_without_end() {
    let deep = "bash -c ".repeat(40) + "'git push'";
    let nested = (0..8).fold("git push".to_owned(), |text, _| format!("bash -c {}", quoted(&text)));
    let brackets = "$(".repeat(10_000) + "git push";
    let ticks = "`".repeat(10_001);
    for text in
        [deep, nested, brackets, ticks, "(".repeat(100_000), "{".repeat(100_000), "git push;".repeat(50_000)]
    {
        deeds(&text, &Place::At(String::new()));
    }
    assert_eq!(said(&("$(".repeat(50) + "git push" + &")".repeat(50))), "unseen");
}

/// A host waits for the answer for some seconds, and then runs the tool.
#[test]
fn what_grows_without_end_is_a_push_and_takes_no_time() {
    let doubled = "a=$a$a; ".repeat(31);
    let many = |piece: &str, times: usize| piece.repeat(times);
    let several = |before: &str, piece: &str, times| format!("{before}{}", piece.repeat(times));
    let texts = [
        format!("a=x; {doubled}git push"),
        format!("a=x; {doubled}git $a"),
        format!("export a=x; {doubled}bash -c 'git push'"),
        format!("a='git push'; {doubled}$a"),
        many("env ", 5000) + "git push",
        many("xargs ", 5000) + "git push",
        format!("echo a | {}git push", many("xargs ", 5000)),
        many("sudo nice timeout 5 ", 2000) + "git push",
        many("poetry run ", 5000) + "git push",
        many("find . -exec ", 5000) + "git push",
        many("loopx guard run -- ", 5000) + "git push",
        many("eval ", 5000) + "git push",
        many("command ", 5000) + "git push",
        many("flock x ", 5000) + "git push",
        many("tmux git bash ", 2000) + "git push",
        many("time -p ", 5000) + "git push",
        format!("git {} push", many("for-each-repo ", 5000)),
        format!("git {} git push", many("bisect run git ", 5000)),
        format!("git {} git push", many("submodule foreach git ", 5000)),
        many("$( ", 5000) + "git push" + &many(" )", 5000),
        many("{ ( { ", 3000) + "git push" + &many("; } ) }", 3000),
        many("${a:-", 5000) + "$(git push)" + &many("}", 5000),
        many("<(", 5000) + "git push",
        many("if ( ", 5000) + "git push",
        (0..8).fold("git push".to_owned(), |text, _| format!("env bash -c {}", quoted(&text))),
        "X='eval \"$X\"; eval \"$X\"; eval \"$X\"; git push'; export X; bash -c \"$X\"".to_owned(),
        format!("export X='{}git push'; eval \"$X\"", many("bash -c \"$X\";", 30)),
        several("git push;", "(true) | sh;", 20_000),
        several("git push; echo ls > a;", "echo ls > a; sh a;", 10_000),
        several("git push; export A=1;", "export A=1; ls;", 10_000),
        format!("git push; export A={}; {}", many("x", 60_000), many("export b=1;", 10_000)),
        several("git push;", "cd aaaaaaaaaaaaaaa;", 10_000),
        (0..20_000).map(|number| format!("a{number}=1;")).collect::<String>() + "git push",
    ];
    let programs =
        ["\\\"", "\"", "'", " /", "#", "/*", "a//"].map(|piece| piece.repeat(LONGEST / piece.len()));
    for text in programs {
        in_time(&text, || code(&text, "x.py", &Place::Somewhere));
    }
    for text in texts {
        let said = in_time(&text, || said(&text));
        assert!(said.contains("push") || said.contains("unseen"), "{text:.60}: {said}");
    }
}

/// As scripts have it that programs write, `./configure` for one.
#[test]
fn long_scripts_that_send_nothing_pass() {
    let line = |number: usize| {
        format!("ac_{number}=yes\nif test \"$ac_{number}\" = x; then echo \"$ac_{number}\"; fi\n")
    };
    let text: String = (0..3000).map(line).collect();
    assert_eq!(said(&text), "");
}

/// What `run` returns, in less time than a host waits for.
#[expect(clippy::disallowed_methods, reason = "hosts measure it, too")]
fn in_time<T>(text: &str, run: impl FnOnce() -> T) -> T {
    let began = std::time::Instant::now();
    let done = run();
    assert!(began.elapsed().as_secs() < 8, "{text:.60}: {:?}", began.elapsed());
    done
}

const PIECES: [&str; 44] = [
    "git",
    " ",
    "push",
    "'",
    "\"",
    "\\",
    "$",
    "$(",
    ")",
    "`",
    "${",
    "}",
    "{",
    "(",
    "((",
    "<<EOF",
    "\n",
    "EOF",
    "|",
    "&&",
    ";",
    ";;",
    ">",
    ">&2",
    "<(",
    "bash -c ",
    "eval ",
    "xargs ",
    "env -S ",
    "case x in ",
    "esac",
    "for x in ",
    "do ",
    "[[ ",
    "]]",
    "#",
    "X=",
    "$X",
    "-c ",
    "alias.x=push",
    "*",
    "é",
    "\u{0}",
    "cd .git/hooks",
];

const WRAPS: [(&str, &str); 14] = [
    ("env ", ""),
    ("xargs ", ""),
    ("env X=1 sudo -u x ", ""),
    ("nohup nice ", ""),
    ("poetry run ", ""),
    ("find . -exec ", " ;"),
    ("echo $( ", " )"),
    ("{ ", "; }"),
    ("( ", " )"),
    ("{ ( { ", "; } ) }"),
    ("eval ", ""),
    ("command ", ""),
    ("loopx evidence run -- ", ""),
    ("a=1; a=$a$a; ", ""),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is typed is read to its end.
    #[test]
    fn any_text_is_read(pieces in vec(prop::sample::select(&PIECES[..]), 0..24)) {
        deeds(&pieces.concat(), &Place::At(String::new()));
    }

    /// However deep a push is wrapped, it is one, and is found at once.
    #[test]
    fn wrapping_does_not_hide_a_push(wraps in vec((prop::sample::select(&WRAPS[..]), 1..400_usize), 1..5), quotes in 0..3_usize) {
        // A word in front of a bracket would be another command's.
        let (brackets, words): (Vec<_>, Vec<_>) = wraps.iter().copied().partition(|((before, _), _)| before.contains(['{', '(', '=']) && !before.contains("sudo"));
        let wrapped = words.into_iter().chain(brackets).fold("git push".to_owned(), |text, ((before, after), times)| {
            format!("{}{text}{}", before.repeat(times), after.repeat(times))
        });
        let line = (0..quotes).fold(wrapped, |text, _| format!("bash -c {}", quoted(&text)));
        let said = in_time(&line, || said(&line));
        prop_assert!(said.contains("push") || said.contains("unseen"), "{}", said);
    }

    /// What is quoted is one word, and the same.
    #[test]
    fn quoting_is_taken_back(words in vec("\\PC{0,12}", 1..5)) {
        let line: Vec<String> = std::iter::once("x".to_owned()).chain(words.iter().map(|word| quoted(word))).collect();
        let read = first_words(&line.join(" "));
        let expected: Vec<String> = std::iter::once("x".to_owned()).chain(words).collect();
        prop_assert_eq!(read, Some(expected));
    }

    /// A push behind anything quoted is a push.
    #[test]
    fn words_before_do_not_hide_a_push(word in "\\PC{0,12}", wrap in any::<bool>()) {
        let inner = format!("echo {}; git push", quoted(&word));
        let line = if wrap { format!("bash -c {}", quoted(&inner)) } else { inner };
        prop_assert_eq!(said(&line), "push");
    }
}
