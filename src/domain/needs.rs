//! What has to be done first: the needs of todos, which never lead back to where they began.

use std::collections::{BTreeMap, BTreeSet};

use super::id::TodoId;

/// A walk along needs that leads back to where it began, with that at both ends; `None` when there is none in what
/// can be reached from `starts`.
///
/// `needs_of` answers nothing for a todo that is closed: what is closed stops nobody. Each todo is looked at once.
pub fn circle<E>(
    starts: impl IntoIterator<Item = TodoId>,
    mut needs_of: impl FnMut(&TodoId) -> Result<BTreeSet<TodoId>, E>,
) -> Result<Option<Vec<TodoId>>, E> {
    #[derive(PartialEq)]
    enum Seen {
        Here,
        Done,
    }
    let mut seen: BTreeMap<TodoId, Seen> = BTreeMap::new();
    for start in starts {
        if seen.contains_key(&start) {
            continue;
        }
        let needs = needs_of(&start)?.into_iter();
        seen.insert(start.clone(), Seen::Here);
        let mut walk = vec![(start, needs)];
        while let Some((at, needs)) = walk.last_mut() {
            let Some(need) = needs.next() else {
                seen.insert(at.clone(), Seen::Done);
                walk.pop();
                continue;
            };
            match seen.get(&need) {
                Some(Seen::Done) => {}
                Some(Seen::Here) => {
                    let along = walk.into_iter().map(|(id, _)| id).skip_while(|id| *id != need);
                    return Ok(Some(along.chain([need.clone()]).collect()));
                }
                None => {
                    let needs = needs_of(&need)?.into_iter();
                    seen.insert(need.clone(), Seen::Here);
                    walk.push((need, needs));
                }
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::todo_id;

    #[track_caller]
    fn check(needs: &[(&str, &[&str])], expected: Option<&[&str]>) {
        let id = |digit: &&str| todo_id(&format!("t-000{digit}"));
        let needs: BTreeMap<TodoId, BTreeSet<TodoId>> =
            needs.iter().map(|(todo, needs)| (id(todo), needs.iter().map(id).collect())).collect();
        let found =
            circle(needs.keys().cloned(), |todo| Ok::<_, ()>(needs.get(todo).cloned().unwrap_or_default()));
        assert_eq!(found.unwrap(), expected.map(|circle| circle.iter().map(id).collect()));
    }

    #[test]
    fn a_circle_is_found_and_named() {
        check(&[], None);
        check(&[("1", &["1"])], Some(&["1", "1"]));
        check(&[("1", &["2", "3"]), ("2", &["4"]), ("3", &["4"]), ("4", &[])], None);
        check(&[("1", &["2"]), ("2", &["3"]), ("3", &["2"])], Some(&["2", "3", "2"]));
        check(&[("1", &["9"])], None);
    }

    #[test]
    fn a_deep_chain_takes_no_stack_and_each_todo_once() {
        let number = |id: &TodoId| id.as_str()[2..].parse::<u32>().unwrap();
        let mut looks = 0;
        let found = circle([todo_id("t-000000")], |todo| {
            looks += 1;
            let next = number(todo) + 1;
            Ok::<_, ()>((next < 100_000).then(|| todo_id(&format!("t-{next:06}"))).into_iter().collect())
        });
        assert_eq!((found, looks), (Ok(None), 100_000));
    }
}
