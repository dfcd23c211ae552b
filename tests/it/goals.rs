//! Goals and what they may do; loosening takes a person.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn goals_are_added_listed_and_shown() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    assert_snapshot!(repo.scene("
        loopx goal list
        loopx goal add 'Ship version 2' --done-when 'tests pass' --done-when 'docs are up'
        loopx goal add 'Ship version 2'
        loopx goal add Grüße --goal-id greet --agent-id codex-1
        loopx goal add Other --goal-id greet
        loopx goal add 日本
        loopx goal list
        loopx goal show ship-version-2
        loopx goal show greet
    "), @"
    $ loopx goal list
    $ loopx goal add 'Ship version 2' --done-when 'tests pass' --done-when 'docs are up'
    added goal ship-version-2: Ship version 2
    $ loopx goal add 'Ship version 2'
    added goal ship-version-2-2: Ship version 2
    $ loopx goal add Grüße --goal-id greet --agent-id codex-1
    added goal greet: Grüße
    $ loopx goal add Other --goal-id greet
    [stderr] error: there is a goal `greet` already
    [stderr] hint: run `loopx goal show greet`, or choose another `--goal-id`
    [exit 1]
    $ loopx goal add 日本
    added goal goal: 日本
    $ loopx goal list
      goal              active  日本
      greet             active  Grüße
      ship-version-2    active  Ship version 2
      ship-version-2-2  active  Ship version 2
    $ loopx goal show ship-version-2
    goal ship-version-2: Ship version 2
      state      active
      added      by Ann, 6 s ago
      done when  tests pass
      done when  docs are up
      compute    1
      window     24 h in slots of 30 min
      slots      0 of 48 used
    $ loopx goal show greet
    goal greet: Grüße
      state    active
      added    by codex-1, 5 s ago
      compute  1
      window   24 h in slots of 30 min
      slots    0 of 48 used
    ");
}

#[test]
fn a_goal_has_to_be_named_when_several_are_active() {
    let mut repo = Sandbox::ready();
    repo.loopx("goal add Other --goal-id other").success();
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx goal show
        loopx goal show nope
        loopx todo add one --goal-id other
    "), @"
    $ loopx todo add one
    [stderr] error: 2 goals are active (`other`, `ship`), so the goal has to be named
    [stderr] hint: add `--goal-id other`
    [exit 2]
    $ loopx goal show
    [stderr] error: 2 goals are active (`other`, `ship`), so the goal has to be named
    [stderr] hint: add `--goal-id other`
    [exit 2]
    $ loopx goal show nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx todo add one --goal-id other
    added todo t-sry7: one
    ");
    repo.env("LOOPX_GOAL", "other");
    assert_snapshot!(repo.scene("
        loopx todo add two
        loopx todo add three --goal-id ship
        loopx goal-config
    "), @"
    $ loopx todo add two
    added todo t-a4wn: two
    $ loopx todo add three --goal-id ship
    added todo t-f8b6: three
    $ loopx goal-config
    goal other
      features  none
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    ");
    repo.clear_env().env("LOOPX_GOAL", "No Goal");
    assert_snapshot!(repo.loopx("goal show"), @"
    [stderr] error: `LOOPX_GOAL`: `No Goal` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    [exit 2]
    ");
}

#[test]
fn what_is_no_id_is_said_with_the_form_of_one() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx goal add x --goal-id 'No Goal'
        loopx goal add x --goal-id ../../etc
        loopx goal add x --goal-id=-x
        loopx goal add ''
        loopx goal-config --goal-id nope
    "), @"
    $ loopx goal add x --goal-id 'No Goal'
    [stderr] error: invalid value 'No Goal' for '--goal-id <GOAL>': `No Goal` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx goal add x --goal-id ../../etc
    [stderr] error: invalid value '../../etc' for '--goal-id <GOAL>': `../../etc` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx goal add x --goal-id=-x
    [stderr] error: invalid value '-x' for '--goal-id <GOAL>': `-x` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx goal add ''
    [stderr] error: invalid value '' for '<OBJECTIVE>': the text is blank
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx goal-config --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
}

#[test]
fn a_person_switches_a_feature_on_and_an_agent_may_switch_it_off() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.person("configure-goal --goal-id ship --enable explore", "ship"), @"
    This will
      switch on `explore` for goal `ship`
    `explore` is recorded; this version has nothing that looks at it yet

    Type `ship` to switch on `explore` for goal `ship`: ship
    goal ship
      features  explore
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    `explore` is recorded; this version has nothing that looks at it yet
    ");
    assert_snapshot!(repo.scene("
        loopx goal-config --goal-id ship
        loopx configure-goal --goal-id ship --enable explore --agent-id codex-1
        loopx configure-goal --goal-id ship --disable explore --agent-id codex-1
        git log -2 --format=%B loopx/state
    "), @"
    $ loopx goal-config --goal-id ship
    goal ship
      features  explore
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    $ loopx configure-goal --goal-id ship --enable explore --agent-id codex-1
    nothing changed
    goal ship
      features  explore
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    `explore` is recorded; this version has nothing that looks at it yet
    $ loopx configure-goal --goal-id ship --disable explore --agent-id codex-1
    goal ship
      features  none
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    $ git log -2 --format=%B loopx/state
    configure goal ship: explore off

    Loopx-Op: goal.configure
    Loopx-Goal: ship
    Loopx-Record: goal/ship
    Loopx-Actor: agent:codex-1
    Signed-off-by: Ann <ann@example.test>

    configure goal ship: explore on

    Loopx-Op: goal.configure
    Loopx-Goal: ship
    Loopx-Record: goal/ship
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>
    ");
}

#[test]
fn an_agent_may_lower_the_quota_and_only_a_person_raises_it() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx configure-goal --goal-id ship --quota-compute 0.5 --agent-id codex-1
        loopx configure-goal --goal-id ship --quota-compute 0.6 --agent-id codex-1
        loopx configure-goal --goal-id ship --quota-window-hours 12 --agent-id codex-1
        loopx configure-goal --goal-id ship --quota-slot-minutes 60 --agent-id codex-1
        loopx configure-goal --goal-id ship --quota-compute 0.5
        loopx configure-goal --goal-id ship
    "), @"
    $ loopx configure-goal --goal-id ship --quota-compute 0.5 --agent-id codex-1
    goal ship
      features  none
      compute   0.5
      window    24 h in slots of 30 min
      slots     0 of 24 used
    $ loopx configure-goal --goal-id ship --quota-compute 0.6 --agent-id codex-1
    [stderr] error: only a person may raise the quota of goal `ship` from 24 slots of 30 min in 24 h to 28 slots of 30 min in 24 h, and this is agent `codex-1` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx configure-goal --goal-id ship --quota-compute 0.6` in a terminal of their own
    [exit 1]
    $ loopx configure-goal --goal-id ship --quota-window-hours 12 --agent-id codex-1
    [stderr] error: only a person may raise the quota of goal `ship` from 24 slots of 30 min in 24 h to 12 slots of 30 min in 12 h, and this is agent `codex-1` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx configure-goal --goal-id ship --quota-window-hours 12` in a terminal of their own
    [exit 1]
    $ loopx configure-goal --goal-id ship --quota-slot-minutes 60 --agent-id codex-1
    [stderr] error: only a person may raise the quota of goal `ship` from 24 slots of 30 min in 24 h to 12 slots of 60 min in 24 h, and this is agent `codex-1` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx configure-goal --goal-id ship --quota-slot-minutes 60` in a terminal of their own
    [exit 1]
    $ loopx configure-goal --goal-id ship --quota-compute 0.5
    nothing changed
    goal ship
      features  none
      compute   0.5
      window    24 h in slots of 30 min
      slots     0 of 24 used
    $ loopx configure-goal --goal-id ship
    nothing changed
    goal ship
      features  none
      compute   0.5
      window    24 h in slots of 30 min
      slots     0 of 24 used
    ");
    assert_snapshot!(repo.person("configure-goal --goal-id ship --quota-compute 1 --enable explore", "ship"), @"
    This will
      switch on `explore` for goal `ship`
      raise the quota of goal `ship` from 24 slots of 30 min in 24 h to 48 slots of 30 min in 24 h
    `explore` is recorded; this version has nothing that looks at it yet

    Type `ship` to switch on `explore` for goal `ship` and raise the quota of goal `ship` from 24 slots of 30 min in 24 h to 48 slots of 30 min in 24 h: ship
    goal ship
      features  explore
      compute   1
      window    24 h in slots of 30 min
      slots     0 of 48 used
    `explore` is recorded; this version has nothing that looks at it yet
    ");
}

#[test]
fn numbers_that_make_no_quota_are_refused() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx configure-goal --quota-compute 1.5
        loopx configure-goal --quota-compute=-1
        loopx configure-goal --quota-compute NaN
        loopx configure-goal --quota-compute 0.001
        loopx configure-goal --quota-window-hours 0
        loopx configure-goal --quota-slot-minutes 5000
        loopx configure-goal --enable telepathy
    "), @"
    $ loopx configure-goal --quota-compute 1.5
    [stderr] error: invalid value '1.5' for '--quota-compute <SHARE>': `1.5` is not a share (expected 0 to 1 with at most four decimals, such as `0.5`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx configure-goal --quota-compute=-1
    [stderr] error: invalid value '-1' for '--quota-compute <SHARE>': `-1` is not a share (expected 0 to 1 with at most four decimals, such as `0.5`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx configure-goal --quota-compute NaN
    [stderr] error: invalid value 'NaN' for '--quota-compute <SHARE>': `NaN` is not a share (expected 0 to 1 with at most four decimals, such as `0.5`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx configure-goal --quota-compute 0.001
    [stderr] error: 0.001 of 48 slots is less than one slot (use 0 to pause, or at least 0.0209)
    [stderr] hint: run `loopx configure-goal --help`
    [exit 2]
    $ loopx configure-goal --quota-window-hours 0
    [stderr] error: a window has 1 to 720 hours, not 0
    [stderr] hint: run `loopx configure-goal --help`
    [exit 2]
    $ loopx configure-goal --quota-slot-minutes 5000
    [stderr] error: a slot has 1 to 1440 minutes and fits into the window, not 5000
    [stderr] hint: run `loopx configure-goal --help`
    [exit 2]
    $ loopx configure-goal --enable telepathy
    [stderr] error: invalid value 'telepathy' for '--enable <FEATURE>'
    [stderr]   [possible values: explore, research, memory]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn nothing_typed_wrong_switches_anything_on() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    assert_snapshot!(repo.person("configure-goal --enable explore", "yes"), @"
    This will
      switch on `explore` for goal `ship`
    `explore` is recorded; this version has nothing that looks at it yet

    Type `ship` to switch on `explore` for goal `ship`: yes
    error: that was not `ship`, so nothing was changed
    hint: run `loopx configure-goal --goal-id ship --enable explore` again
    [exit 1]
    ");
    assert_snapshot!(repo.person("configure-goal --enable explore", ""), @"
    This will
      switch on `explore` for goal `ship`
    `explore` is recorded; this version has nothing that looks at it yet

    Type `ship` to switch on `explore` for goal `ship`: 
    error: that was not `ship`, so nothing was changed
    hint: run `loopx configure-goal --goal-id ship --enable explore` again
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_goal_of_a_share_of_nothing_is_paused() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx configure-goal --quota-compute 0 --agent-id codex-1
        loopx quota should-run
        loopx quota spend-slot
    "), @"
    $ loopx configure-goal --quota-compute 0 --agent-id codex-1
    goal ship
      features  none
      compute   0
      window    24 h in slots of 30 min
      slots     0 of 0 used
    $ loopx quota should-run
    false – stop
    why: goal `ship` has a compute share of 0
    next: loopx quota status --goal-id ship
    [exit 10]
    $ loopx quota spend-slot
    [stderr] error: goal `ship` has 0 of 0 slots left in this window, and 1 is wanted
    [stderr] hint: run `loopx quota status --goal-id ship`
    [exit 1]
    ");
}
