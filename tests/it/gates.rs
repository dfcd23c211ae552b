//! The promise: nothing leaves while a question is open, and only a person answers it.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_push_waits_for_the_answer_and_then_goes_through() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open 'Review generated API schema?' --gate-id schema-review --agent-id codex-1")
        .success();
    repo.sleep(7200);
    assert_snapshot!(repo.git_shown("push origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema-review  open  "Review generated API schema?"  asked by codex-1, 2 h ago
    [stderr] hint: a person answers with `loopx gate resolve schema-review --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate resolve schema-review --decision approve --note 'looks right'", "schema-review"), @r#"
    gate schema-review: "Review generated API schema?"
      goal     ship
      asked    by codex-1, 2 h ago
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit  [ID] feature

    Type `schema-review` to approve gate `schema-review`: schema-review
    gate schema-review is answered: approve
    "#);
    repo.git("push -q origin main").success();
    assert_snapshot!(repo.loopx("gate show schema-review"), @r#"
    gate schema-review: "Review generated API schema?"
      goal     ship
      asked    by codex-1, 2 h ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, just now
      seen at  [ID]
      note     looks right
    "#);
}
