//! Random sequences of commands, played twice: by the program's own operations in a real repository ([`world`]), and by
//! plain maps that know the rules a second time ([`plain`]). After each command both have to agree on whether it was
//! allowed and whether it changed anything, and at the end on every record, and the history has to keep its promises.

mod plain;
mod world;

use std::path::{Path, PathBuf};

use proptest::{collection::vec, prelude::*, sample::Index};

use plain::Model;
use world::World;

/// What a sequence begins with, and what is done then.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    /// A state with so much of the past that the next record closed folds it.
    is_old: bool,
    steps: Vec<Step>,
}

/// One command.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    by: Who,
    /// Seconds that pass before it; less than none when the clock is set back.
    later: i64,
    killed: Killed,
    /// Where a new id is drawn from. The first digits come often, so that ids begin alike.
    digits: (u8, [u8; 10]),
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Person,
    Agent(&'static str),
}

/// Where the command is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Killed {
    Never,
    /// Another one was, before it had moved the branch.
    BeforeTheRef,
    /// It is, with the branch moved and the files in `.loopx/` as they were.
    BeforeTheView,
}

/// A todo or a piece of evidence as somebody names it.
#[derive(Debug, Clone)]
pub(crate) enum Named {
    Whole(Index),
    /// One that is claimed, by whoever has it.
    Own(Index),
    /// One of a state that has grown old.
    Old(usize),
    /// So many characters of it.
    Begun(Index, usize),
    Unknown,
}

type Goal = Option<&'static str>;

/// A turn as somebody names it.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    Called(&'static str),
    /// One that goes on, by whoever began it.
    Own(Index),
}

/// A gate as somebody names it.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    Called(Goal, &'static str),
    Known(Index),
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    AddGoal {
        id: Goal,
        criterion: bool,
    },
    TurnGoal {
        goal: Goal,
        verb: Verb,
        /// What answers its criterion.
        evidence: Option<Named>,
    },
    Configure {
        goal: &'static str,
        wanted: Wanted,
        proven: bool,
    },
    OpenGate {
        goal: Goal,
        id: Option<&'static str>,
        option: bool,
        turn_only: bool,
        todos: Vec<Named>,
    },
    Resolve {
        gate: Asked,
        decision: &'static str,
        note: bool,
    },
    Withdraw {
        gate: Asked,
    },
    /// A no is taken back.
    ReopenGate {
        gate: Asked,
    },
    AddTodo {
        goal: Goal,
        for_person: bool,
        needs: Vec<Named>,
    },
    Claim {
        todo: Named,
        lease: u32,
    },
    ClaimNext {
        goal: Goal,
        lease: u32,
    },
    Renew {
        todo: Named,
        lease: Option<u32>,
    },
    Release {
        todo: Named,
    },
    Block {
        todo: Named,
        on: Option<&'static str>,
    },
    Unblock {
        todo: Named,
    },
    Drop {
        todo: Named,
        proven: bool,
    },
    Reopen {
        todo: Named,
    },
    Split {
        todo: Named,
        parts: usize,
    },
    Edit {
        todo: Named,
        edits: Edits,
    },
    Done {
        todo: Named,
        evidence: Option<Named>,
    },
    AddEvidence {
        about: About,
    },
    Spend {
        goal: Goal,
        turn: &'static str,
        slots: u32,
        evidence: Option<Named>,
    },
    Void {
        goal: Goal,
        turn: &'static str,
    },
    BeginTurn {
        goal: Goal,
        turn: Turn,
        lease: u32,
    },
    EndTurn {
        goal: Goal,
        turn: Turn,
        outcome: &'static str,
        slots: Option<u32>,
        evidence: Option<Named>,
    },
    /// The state is exported, put into a new clone, and the work goes on there.
    Move,
    /// The state is exported and put where it is already.
    ImportHere,
}

/// What is done to a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Pause,
    Resume,
    Meet,
    Achieve,
    Abandon,
}

#[derive(Debug, Clone)]
pub(crate) enum About {
    Todo(Named),
    Gate(Asked),
    Goal(Goal),
}

/// What is to be changed of a todo.
#[derive(Debug, Clone)]
pub(crate) struct Edits {
    priority: Option<u8>,
    for_person: Option<bool>,
    need: Option<Named>,
    no_need: Option<Named>,
}

#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    enable: Option<&'static str>,
    disable: Option<&'static str>,
    compute: Option<&'static str>,
    window_hours: Option<u32>,
    slot_minutes: Option<u32>,
}

fn named() -> impl Strategy<Value = Named> {
    prop_oneof![
        12 => any::<Index>().prop_map(Named::Whole),
        2 => (any::<Index>(), 3..8usize).prop_map(|(index, length)| Named::Begun(index, length)),
        1 => Just(Named::Unknown),
    ]
}

fn own() -> impl Strategy<Value = Named> {
    prop_oneof![1 => named(), 2 => any::<Index>().prop_map(Named::Own)]
}

fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![
        6 => Just(None),
        10 => Just(Some("ship")),
        2 => Just(Some("docs")),
    ]
}

fn gate() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "b", "c", "may-we"][..])
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        1 => (goal(), gate()).prop_map(|(goal, gate)| Asked::Called(goal, gate)),
        4 => any::<Index>().prop_map(Asked::Known),
    ]
}

fn turn_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["turn-1", "turn-2", "turn-3", "turn-4", "turn-5", "turn-6"][..])
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![1 => turn_name().prop_map(Turn::Called), 4 => any::<Index>().prop_map(Turn::Own)]
}

fn verb() -> impl Strategy<Value = Verb> {
    use Verb::{Abandon, Achieve, Meet, Pause, Resume};
    prop::sample::select(&[Pause, Pause, Resume, Resume, Resume, Meet, Meet, Achieve, Achieve, Abandon][..])
}

fn edits() -> impl Strategy<Value = Edits> {
    let some = || prop::option::weighted(0.4, named());
    (prop::option::of(0..4u8), prop::option::weighted(0.2, any::<bool>()), some(), some())
        .prop_map(|(priority, for_person, need, no_need)| Edits { priority, for_person, need, no_need })
}

fn outcome() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["progress", "completed", "completed", "blocked", "nothing", "nothing"][..])
}

fn lease() -> impl Strategy<Value = u32> {
    prop::sample::select(&[60, 2_700, 7_200][..])
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let feature = || prop::option::weighted(0.3, prop::sample::select(&["explore", "memory"][..]));
    let compute = prop::sample::select(&["0", "0.01", "0.1", "0.5", "1"][..]);
    let window = prop::sample::select(&[0, 1, 24, 48][..]);
    let slot = prop::sample::select(&[10, 30, 90][..]);
    let some = prop::option::weighted::<prop::sample::Select<u32>>;
    (feature(), feature(), prop::option::of(compute), some(0.3, window), some(0.3, slot)).prop_map(
        |(enable, disable, compute, window_hours, slot_minutes)| Wanted {
            enable,
            disable,
            compute,
            window_hours,
            slot_minutes,
        },
    )
}

fn about() -> impl Strategy<Value = About> {
    prop_oneof![
        3 => named().prop_map(About::Todo),
        1 => asked().prop_map(About::Gate),
        1 => goal().prop_map(About::Goal),
    ]
}

fn what() -> impl Strategy<Value = What> {
    let goal_id = prop::sample::select(&[None, Some("ship"), Some("docs"), Some("docs")][..]);
    let some = || prop::option::weighted(0.3, named());
    let decisions = &["approve", "approve", "approve", "reject", "reject", "blue"][..];
    let old = prop_oneof![6 => named(), 1 => (0..plain::OLD).prop_map(Named::Old)];
    let booked = prop_oneof![12 => turn_name(), 1 => prop::sample::select(&["old-7", "old-300"][..])];
    let todo_verbs = prop_oneof![
        9 => (goal(), prop::bool::weighted(0.2), prop::option::weighted(0.4, named())).prop_map(
            |(goal, for_person, need)| What::AddTodo { goal, for_person, needs: need.into_iter().collect() }
        ),
        10 => (named(), lease()).prop_map(|(todo, lease)| What::Claim { todo, lease }),
        4 => (goal(), lease()).prop_map(|(goal, lease)| What::ClaimNext { goal, lease }),
        4 => (own(), prop::option::of(lease())).prop_map(|(todo, lease)| What::Renew { todo, lease }),
        3 => own().prop_map(|todo| What::Release { todo }),
        4 => (named(), prop::option::weighted(0.3, gate())).prop_map(|(todo, on)| What::Block { todo, on }),
        4 => named().prop_map(|todo| What::Unblock { todo }),
        4 => (named(), any::<bool>()).prop_map(|(todo, proven)| What::Drop { todo, proven }),
        4 => old.prop_map(|todo| What::Reopen { todo }),
        5 => (own(), some()).prop_map(|(todo, evidence)| What::Done { todo, evidence }),
        3 => (named(), 1..4usize).prop_map(|(todo, parts)| What::Split { todo, parts }),
        6 => (named(), edits()).prop_map(|(todo, edits)| What::Edit { todo, edits }),
    ];
    let turn_verbs = prop_oneof![
        8 => (goal(), turn_name(), lease())
            .prop_map(|(goal, turn, lease)| What::BeginTurn { goal, turn: Turn::Called(turn), lease }),
        1 => (goal(), any::<Index>(), lease())
            .prop_map(|(goal, turn, lease)| What::BeginTurn { goal, turn: Turn::Own(turn), lease }),
        10 => (prop::option::weighted(0.2, goal()), turn(), outcome(), prop::option::weighted(0.2, 0..30u32), some())
            .prop_map(|(goal, turn, outcome, slots, evidence)| {
                What::EndTurn { goal: goal.flatten(), turn, outcome, slots, evidence }
            }),
        4 => (goal(), turn_name(), 1..30u32, some())
            .prop_map(|(goal, turn, slots, evidence)| What::Spend { goal, turn, slots, evidence }),
        3 => (goal(), booked).prop_map(|(goal, turn)| What::Void { goal, turn }),
    ];
    let gate_verbs = prop_oneof![
        5 => (goal(), prop::option::weighted(0.8, gate()), any::<bool>(), any::<bool>(), vec(named(), 0..3))
            .prop_map(|(goal, id, option, turn_only, todos)| What::OpenGate { goal, id, option, turn_only, todos }),
        6 => (asked(), prop::sample::select(decisions), any::<bool>())
            .prop_map(|(gate, decision, note)| What::Resolve { gate, decision, note }),
        2 => asked().prop_map(|gate| What::Withdraw { gate }),
        2 => asked().prop_map(|gate| What::ReopenGate { gate }),
    ];
    prop_oneof![
        56 => todo_verbs,
        20 => turn_verbs,
        12 => gate_verbs,
        1 => (goal_id, any::<bool>()).prop_map(|(id, criterion)| What::AddGoal { id, criterion }),
        5 => (goal(), verb(), any::<bool>(), named()).prop_map(|(goal, verb, shows, evidence)| {
            let evidence = (shows && matches!(verb, Verb::Meet | Verb::Achieve)).then_some(evidence);
            What::TurnGoal { goal, verb, evidence }
        }),
        4 => (prop::sample::select(&["ship", "ship", "docs"][..]), wanted(), any::<bool>())
            .prop_map(|(goal, wanted, proven)| What::Configure { goal, wanted, proven }),
        4 => about().prop_map(|about| What::AddEvidence { about }),
        1 => Just(What::Move),
        1 => Just(What::ImportHere),
    ]
}

impl What {
    /// Only a person may.
    fn takes_a_person(&self) -> bool {
        use What::{ReopenGate, Resolve, TurnGoal, Void, Withdraw};
        match self {
            TurnGoal { verb, .. } => matches!(verb, Verb::Resume | Verb::Achieve | Verb::Abandon),
            _ => matches!(self, Resolve { .. } | Withdraw { .. } | ReopenGate { .. } | Void { .. }),
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let by = prop_oneof![2 => Just(Who::Person), 3 => Just(Who::Agent("a")), 3 => Just(Who::Agent("b"))];
    let later = prop_oneof![8 => 0..900i64, 3 => 1_000..8_000i64, 1 => Just(90_000), 1 => -4_000..0i64];
    let killed = prop_oneof![
        14 => Just(Killed::Never),
        1 => Just(Killed::BeforeTheRef),
        1 => Just(Killed::BeforeTheView),
    ];
    let digits = (0..6u8, any::<[u8; 10]>());
    (by, prop::bool::weighted(0.8), later, killed, digits, what()).prop_map(
        |(by, knows, later, killed, digits, what)| {
            let by = if knows && what.takes_a_person() { Who::Person } else { by };
            Step { by, later, killed, digits, what }
        },
    )
}

/// Sequences of up to 28 commands. Most begin with a goal and two todos, one a person's wish and one an agent's.
pub(crate) fn sequences() -> impl Strategy<Value = Sequence> {
    let begin =
        |by, digit, what| Step { by, later: 0, killed: Killed::Never, digits: (digit, [digit; 10]), what };
    let todo = || What::AddTodo { goal: None, for_person: false, needs: Vec::new() };
    let first = move |criterion| {
        [
            begin(Who::Person, 0, What::AddGoal { id: Some("ship"), criterion }),
            begin(Who::Person, 1, todo()),
            begin(Who::Agent("a"), 2, todo()),
        ]
    };
    let begins = prop::option::weighted(0.9, prop::bool::weighted(0.3));
    (prop::bool::weighted(0.04), begins, vec(step(), 1..26)).prop_map(move |(is_old, begins, steps)| {
        let first = begins.into_iter().flat_map(&first);
        Sequence { is_old, steps: first.chain(steps).collect() }
    })
}

/// What was played.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Played {
    pub(crate) commands: usize,
    pub(crate) changed: usize,
    pub(crate) refused: usize,
    pub(crate) killed: usize,
    pub(crate) folded: usize,
    pub(crate) moved: usize,
}

impl std::ops::AddAssign for Played {
    fn add_assign(&mut self, other: Self) {
        self.commands += other.commands;
        self.changed += other.changed;
        self.refused += other.refused;
        self.killed += other.killed;
        self.folded += other.folded;
        self.moved += other.moved;
    }
}

/// Plays a sequence in a new repository below `folder`. The error says where program and model part.
pub(crate) fn play(sequence: &Sequence, folder: &Path) -> Result<Played, String> {
    let (mut world, mut model) = (World::begin(folder), Model::default());
    if sequence.is_old {
        world.grow_old();
        model.grow_old();
    }
    let mut played = Played::default();
    let last = Step {
        by: Who::Person,
        later: 0,
        killed: Killed::Never,
        digits: (0, [0; 10]),
        // Always allowed, and brings the view up to the branch if the last command was killed.
        what: What::AddGoal { id: None, criterion: false },
    };
    for (number, step) in sequence.steps.iter().chain([&last]).enumerate() {
        let step = &Step { by: model.who(step), ..step.clone() };
        let told = |problem: String| format!("command {number}, {:?} by {:?}: {problem}", step.what, step.by);
        let done = world.play(step, &model);
        let folded = model.folds;
        let expected = model.play(step, done.as_ref().map_or(&[][..], |done| &done.ids), world.now());
        match (&done, &expected) {
            (Ok(done), Ok(changes)) if done.changed == *changes => {}
            (Err(said), Err(expected)) if said.contains(expected) => {}
            _ => return Err(told(format!("the program says {done:?}, the model {expected:?}"))),
        }
        played.commands += 1;
        played.changed += usize::from(expected == Ok(true));
        played.refused += usize::from(expected.is_err());
        played.folded += model.folds - folded;
        played.killed += usize::from(step.killed != Killed::Never);
        played.moved += usize::from(matches!(step.what, What::Move));
    }
    world.judge(&model)?;
    Ok(played)
}

/// Where repositories are made quickly: in memory, if there is room.
pub(crate) fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
