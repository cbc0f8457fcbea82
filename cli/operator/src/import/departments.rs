//! Checks the hierarchy of imported departments: the parent of each exists, and none is below itself.

use std::collections::BTreeMap;

use shared::directory::Department;
use shared::ids::DepartmentId;

/// Departments by id, each with its line.
pub type DepartmentLines = BTreeMap<DepartmentId, (u64, Department)>;

/// Removes the bad lines from `lines` and returns them, each with the reason. A department with a removed line stays as
/// it is stored, so other departments may lose their parent. The check is therefore repeated until nothing changes.
pub fn take_bad(
    lines: &mut DepartmentLines,
    stored: &BTreeMap<DepartmentId, Department>,
) -> Vec<(u64, String)> {
    let mut refused = Vec::new();
    loop {
        let bad: Vec<_> = lines
            .keys()
            .filter_map(|id| Some((*id, fault(*id, lines, stored)?)))
            .collect();
        if bad.is_empty() {
            return refused;
        }
        for (id, reason) in bad {
            let line = lines.remove(&id).map(|(line, _)| line);
            refused.extend(line.map(|line| (line, reason)));
        }
    }
}

/// The fault of a department's parent, among the departments as they are after the import.
fn fault(
    id: DepartmentId,
    lines: &DepartmentLines,
    stored: &BTreeMap<DepartmentId, Department>,
) -> Option<String> {
    let department = |id: &DepartmentId| {
        let line = lines.get(id).map(|(_, department)| department);
        line.or_else(|| stored.get(id))
    };
    let parent = department(&id)?.parent?;
    if department(&parent).is_none() {
        return Some(format!("parent: department {parent} does not exist"));
    }
    // The number of steps is limited, because the departments above may be a circle without this one.
    let mut above = std::iter::successors(Some(parent), |above| department(above)?.parent)
        .take(lines.len() + stored.len() + 1);
    above
        .any(|above| above == id)
        .then(|| format!("parent: department {parent} is or lies below department {id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u64) -> DepartmentId {
        DepartmentId::new(id).unwrap()
    }

    fn department(parent: Option<u64>) -> Department {
        Department::new("A", parent.map(id))
    }

    /// The refused lines. Each line has the number of its department. Departments are given with their parents.
    fn refused(lines: &[(u64, Option<u64>)], stored: &[(u64, Option<u64>)]) -> Vec<(u64, String)> {
        let mut lines = lines
            .iter()
            .map(|(at, parent)| (id(*at), (*at, department(*parent))))
            .collect();
        let stored = stored
            .iter()
            .map(|(at, parent)| (id(*at), department(*parent)))
            .collect();
        take_bad(&mut lines, &stored)
    }

    fn missing(line: u64, parent: u64) -> (u64, String) {
        (line, format!("parent: department {parent} does not exist"))
    }

    #[test]
    fn a_parent_is_stored_or_in_a_good_line() {
        assert_eq!(
            refused(&[(2, Some(1)), (1, None), (3, Some(9))], &[(9, None)]),
            []
        );
        assert_eq!(
            refused(&[(2, Some(1)), (1, Some(8))], &[]),
            [missing(1, 8), missing(2, 1)]
        );
    }

    #[test]
    fn circles_are_refused_and_what_hangs_on_them_too() {
        let lines: Vec<_> = refused(&[(1, Some(2)), (2, Some(1)), (3, Some(2)), (4, None)], &[])
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [1, 2, 3]);
        assert_eq!(
            refused(&[(5, Some(5))], &[]),
            [(5, "parent: department 5 is or lies below department 5".to_owned())]
        );
    }

    #[test]
    fn a_refused_line_leaves_its_department_as_it_is_stored() {
        // 1 stays below 2, so 2 must not move below 1.
        let lines: Vec<_> = refused(&[(1, Some(8)), (2, Some(1))], &[(1, Some(2)), (2, None)])
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [1, 2]);
    }
}
