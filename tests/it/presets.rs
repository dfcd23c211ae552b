//! Ready-made goals.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

fn set_up(preset: &str) -> Sandbox {
    let repo = Sandbox::plain();
    repo.loopx(&format!("init --preset {preset}")).success();
    repo
}

#[test]
fn a_day_begins_with_what_came_in() {
    let repo = set_up("daily-triage");
    assert_snapshot!(repo.scene("
        loopx status
        loopx quota should-run --agent-id a
        loopx todo list
        git log --reverse --format=%s loopx/state
        loopx verify --all
    "), @r#"
    $ loopx status
    1 question waits for you
      close-issues  open  by Ann, just now  May the issues on the list be closed?
      a person answers with `loopx gate resolve close-issues --decision approve` (or `reject`)
    1 goal
      daily-triage  active  0/6 slots  Everything that comes in is looked at within…
    6 todos open
      t-70dq  p1  open          Write down how issues are sorted here: labels, owne…
      t-9eyp  p1  monitor, due  Look for new issues and pull requests
      t-er2j  p1  monitor, due  Look for failing runs on the main branch
      t-mb8n  p2  open          Sort what is open: for each a label, an owner, and…
      t-q1xb  p3  open          List the issues that nobody answers any more, with…
      and 1 more: loopx todo list
    pushes are guarded
    $ loopx quota should-run --agent-id a
    true – look at t-9eyp: Look for new issues and pull requests (user gate pending: "May the issues on the list be closed?")
    why: monitor `t-9eyp` is due, and gate `close-issues` is open elsewhere
    next: loopx todo poll t-9eyp --fingerprint "<what there is>"
    $ loopx todo list
      t-70dq  p1  open          Write down how issues are sorted here: labels, owners, what is urgent
      t-9eyp  p1  monitor, due  Look for new issues and pull requests
      t-er2j  p1  monitor, due  Look for failing runs on the main branch
      t-mb8n  p2  open          Sort what is open: for each a label, an owner, and the next step
      t-q1xb  p3  open          List the issues that nobody answers any more, with a reason for each
      t-r3ve  p3  open          Close the issues on that list
    $ git log --reverse --format=%s loopx/state
    begin loopx state
    add goal daily-triage: Everything that comes in is looked at within a d…
    configure goal daily-triage: slots 6
    add 6 todos: Write down how issues are sorted here: labels, owners, wha…
    open gate close-issues: May the issues on the list be closed?
    $ loopx verify --all
    5 commits (5 new commits): each is one legal mutation, signed off
    "#);
    let todo = repo.loopx("todo claim --next --agent-id a --json").json();
    let todo = todo["id"].as_str().expect("an id");
    repo.loopx(&format!("todo done {todo} --agent-id a")).success();
    repo.sleep(24 * 3600);
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    true – look at t-er2j: Look for failing runs on the main branch (user gate pending: "May the issues on the list be closed?")
    why: monitor `t-er2j` is due, and gate `close-issues` is open elsewhere
    next: loopx todo poll t-er2j --fingerprint "<what there is>"
    "#);
}

#[test]
fn pull_requests_are_watched_and_not_merged() {
    let repo = set_up("pr-watch");
    assert_snapshot!(repo.scene("
        loopx status
        loopx quota should-run --agent-id a
    "), @r#"
    $ loopx status
    1 question waits for you
      merge  open  by Ann, just now  May the pull requests that are green and appro…
      a person answers with `loopx gate resolve merge --decision approve` (or `reject`)
    1 goal
      pr-watch  active  0/16 slots  No pull request waits for us
    6 todos open
      t-9eyp  p0  monitor, due  Look at reviews, checks and conflicts of the open p…
      t-70dq  p1  open          List the open pull requests: whose turn it is, and…
      t-er2j  p1  open          Answer the review comments that ask for a change
      t-mb8n  p1  open          Mend the checks that fail, and resolve conflicts
      t-q1xb  p2  open          Merge what is green and approved
      and 1 more: loopx todo list
    pushes are guarded
    $ loopx quota should-run --agent-id a
    true – look at t-9eyp: Look at reviews, checks and conflicts of the open pull requests (user gate pending: "May the pull requests that are green and approved be merged?")
    why: monitor `t-9eyp` is due, and gate `merge` is open elsewhere
    next: loopx todo poll t-9eyp --fingerprint "<what there is>"
    "#);
    repo.sleep(3600);
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    true – look at t-9eyp: Look at reviews, checks and conflicts of the open pull requests (user gate pending: "May the pull requests that are green and approved be merged?")
    why: monitor `t-9eyp` is due, and gate `merge` is open elsewhere
    next: loopx todo poll t-9eyp --fingerprint "<what there is>"
    "#);
}

#[test]
fn a_draft_is_edited_by_a_person() {
    let repo = set_up("changelog-draft");
    assert_snapshot!(repo.scene("
        loopx status
        loopx goal show
        loopx quota should-run --agent-id a
    "), @r#"
    $ loopx status
    1 question waits for you
      draft-is-right  open  by Ann, just now  Does the draft say what changed, and…
      a person answers with `loopx gate resolve draft-is-right --decision approve` (or `reject`)
    1 goal
      changelog-draft  active  0/8 slots  The changelog says what changed since the…
    5 todos open
      t-9eyp  p1  open                Collect what was merged since the last tag
      t-er2j  p1  open                Group it: added, changed, fixed, removed, and…
      t-mb8n  p1  open                Write the draft into CHANGELOG.md, for reader…
      t-q1xb  p2  open, for a person  Edit the draft
      t-r3ve  p2  open                Open a pull request with the edited draft
    pushes are guarded
    $ loopx goal show
    goal changelog-draft: The changelog says what changed since the last release
      state      active
      added      by Ann, just now
      done when  every merged change is in the draft or left out for a reason
      done when  a person has edited the draft
      compute    1
      window     24 h in slots of 30 min
      cap        8 slots
      slots      0 of 8 used
    $ loopx quota should-run --agent-id a
    true – work on t-9eyp: Collect what was merged since the last tag (user gate pending: "Does the draft say what changed, and nothing that is not for the public?")
    why: gate `draft-is-right` is open, but `t-9eyp` does not fall under it
    next: loopx todo claim t-9eyp
    "#);
    for _ in 0..2 {
        let todo = repo.loopx("todo claim --next --agent-id a --json").json();
        repo.loopx(&format!("todo done {} --agent-id a", todo["id"].as_str().expect("an id"))).success();
    }
    let todo = repo.loopx("todo claim --next --agent-id a --json").json();
    let draft = todo["id"].as_str().expect("an id");
    assert_eq!(repo.loopx(&format!("todo done {draft} --agent-id a")).code, 1, "there is no draft yet");
    repo.write("repo/CHANGELOG.md", "All that changed\n");
    repo.loopx(&format!("todo done {draft} --agent-id a")).success();
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    false – user gate pending: "Does the draft say what changed, and nothing that is not for the public?"
    why: everything that could be done waits for a person, who answers gate `draft-is-right`
    next: loopx gate show draft-is-right
    [exit 10]
    "#);
}

#[test]
fn a_release_waits_for_a_person_before_each_step_that_cannot_be_undone() {
    let repo = set_up("release");
    assert_snapshot!(repo.scene("
        loopx status
        loopx quota should-run --agent-id a
        loopx guard check --for publish
        loopx guard check --for push
    "), @r#"
    $ loopx status
    2 questions wait for you
      commit-to-tag  open  by Ann, just now  Is this the commit to tag?
      publish-it     open  by Ann, just now  May this version be published?
      a person answers with `loopx gate resolve commit-to-tag --decision approve` (or `reject`)
    1 goal
      release  active  0/12 slots  The next version is out
    8 todos open
      t-70dq  p0  open  Choose the version by what changed, and set it everywhere
      t-9eyp  p1  open  Bring the changelog up to the version
      t-er2j  p1  open  Run every check on the commit that will be tagged, and keep…
      t-hgz6  p1  open  Tag the commit
      t-mb8n  p1  open  Publish the package
      and 3 more: loopx todo list
    pushes are guarded
    $ loopx quota should-run --agent-id a
    true – work on t-70dq: Choose the version by what changed, and set it everywhere (user gate pending: "Is this the commit to tag?")
    why: gate `commit-to-tag` is open, but `t-70dq` does not fall under it
    next: loopx todo claim t-70dq
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      publish-it  open  "May this version be published?"  asked by Ann, just now
    hint: a person answers with `loopx gate resolve publish-it --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    "#);
    repo.write("repo/CHANGELOG.md", "All that changed\n");
    for _ in 0..3 {
        let todo = repo.loopx("todo claim --next --agent-id a --json").json();
        repo.loopx(&format!("todo done {} --agent-id a", todo["id"].as_str().expect("an id"))).success();
    }
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    false – user gate pending: "Is this the commit to tag?"
    why: everything that could be done waits for a person, who answers gate `commit-to-tag`
    next: loopx gate show commit-to-tag
    [exit 10]
    "#);
    repo.person("gate resolve commit-to-tag --decision approve", "commit-to-tag").success();
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    true – work on t-hgz6: Tag the commit (user gate pending: "May this version be published?")
    why: gate `publish-it` is open, but `t-hgz6` does not fall under it
    next: loopx todo claim t-hgz6
    "#);
}

#[test]
fn a_preset_is_added_to_what_is_there_or_refused_whole() {
    let repo = Sandbox::ready();
    repo.todo("work");
    assert_snapshot!(repo.loopx("init --preset release"), @"
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    added goal release with 7 todos, 1 monitor and 2 gates
    next: loopx quota should-run --goal-id release
    ");
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx init --preset release
        loopx init --preset nope
        loopx init --preset release --goal-text Ship
        loopx init --goal-id next
    "), @"
    $ loopx init --preset release
    [stderr] error: there is a goal `release` already
    [stderr] hint: run `loopx goal show release`, or choose another `--goal-id`
    [exit 1]
    $ loopx init --preset nope
    [stderr] error: invalid value 'nope' for '--preset <PRESET>'
    [stderr]   [possible values: changelog-draft, daily-triage, pr-watch, release]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx init --preset release --goal-text Ship
    [stderr] error: the argument '--preset <PRESET>' cannot be used with '--goal-text <TEXT>'
    [stderr]
    [stderr] Usage: loopx init --preset <PRESET>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx init --goal-id next
    [stderr] error: the following required arguments were not provided:
    [stderr]   <--goal-text <TEXT>|--preset <PRESET>>
    [stderr]
    [stderr] Usage: loopx init --goal-id <GOAL> <--goal-text <TEXT>|--preset <PRESET>>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
    assert_snapshot!(repo.loopx("init --preset pr-watch --goal-id watch --agent-id a"), @"
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    added goal watch with 5 todos, 1 monitor and 1 gate
    next: loopx quota should-run --goal-id watch
    ");
    assert_snapshot!(repo.scene("
        loopx goal list
        loopx verify --all
    "), @"
    $ loopx goal list
      release  active  The next version is out
      ship     active  Ship v2
      watch    active  No pull request waits for us
    $ loopx verify --all
    12 commits (12 new commits): each is one legal mutation, signed off
    ");
}
