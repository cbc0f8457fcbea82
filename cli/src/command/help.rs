//! Help texts at one width, with whole words (C-106). Examples stay on one line, so that they can be copied.

/// Characters of a line.
const WIDTH: usize = 80;

/// The help with paragraphs filled to the width, and descriptions of options wrapped under their beginning.
pub fn wrapped(help: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_paragraph = false;
    for line in help.lines() {
        let is_text = line.starts_with(|first: char| !first.is_whitespace())
            && !line.ends_with(':')
            && !line.starts_with("Usage");
        match lines.last_mut() {
            // A line of the same paragraph.
            Some(last) if is_text && is_paragraph => *last = format!("{last} {line}"),
            _ => lines.push(line.to_owned()),
        }
        is_paragraph = is_text;
    }
    let filled: Vec<_> = lines.iter().map(|line| fill(line)).collect();
    filled.join("\n") + "\n"
}

/// A line broken between words. Further lines begin where its last column begins.
fn fill(line: &str) -> String {
    let is_example = line.starts_with("  ") && line.contains("funil ") && !line.contains("   ");
    if line.chars().count() <= WIDTH || is_example {
        return line.to_owned();
    }
    let indent = column(line);
    let (mut filled, mut length) = (String::new(), 0);
    let (head, rest) = line.split_at(line.char_indices().nth(indent).map_or(line.len(), |(at, _)| at));
    filled.push_str(head);
    length += head.chars().count();
    for word in rest.split(' ') {
        let size = word.chars().count();
        if length > indent && length + 1 + size > WIDTH {
            filled = format!("{filled}\n{:indent$}", "");
            length = indent;
        } else if length > indent {
            filled.push(' ');
            length += 1;
        }
        filled.push_str(word);
        length += size;
    }
    filled
}

/// The character at which the last column of a line begins: after its indentation, and of a table after two spaces.
fn column(line: &str) -> usize {
    let begin = line.chars().take_while(|c| *c == ' ').count();
    let rest: Vec<char> = line.chars().skip(begin).collect();
    let gap = rest.windows(2).position(|pair| pair == [' ', ' ']);
    let Some(gap) = gap.filter(|gap| begin + gap < WIDTH / 2) else {
        return begin;
    };
    begin + gap + rest.iter().skip(gap).take_while(|c| **c == ' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        let option = "      --data <DIR>  Directory of the database of `funil serve`, which may run, and so on and so forth until here";
        assert_eq!(
            fill(option),
            "      --data <DIR>  Directory of the database of `funil serve`, which may run,\n                    and so on and so forth until here"
        );
        let example = format!("  funil import --instance acme {}", "x".repeat(80));
        assert_eq!(fill(&example), example);
    }

    #[test]
    fn every_help_fits() {
        fn judge(command: &clap::Command) {
            let help = wrapped(&command.clone().render_long_help().to_string());
            for line in help.lines().filter(|line| !line.contains("funil ")) {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
            command.get_subcommands().for_each(judge);
        }
        judge(&super::super::grammar());
    }
}
