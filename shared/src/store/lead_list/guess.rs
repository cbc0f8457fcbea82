//! What callers turned out to be when they last asked: how far they see, and how they count pages.
//!
//! A guess decides only what is read beside the credential. Every answer rests on the permissions and settings that are
//! read with it, so an outdated guess costs a round trip and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::directory::LeadReach;

/// Callers that are remembered; with more, all are forgotten.
const MOST: usize = 1000;

/// What a caller is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    pub reach: LeadReach,
    /// The number of the first page.
    pub page_base: u64,
}

impl Default for Guess {
    /// Whoever asks for the first time sees every lead and counts pages from 1.
    fn default() -> Self {
        Self {
            reach: LeadReach::All,
            page_base: 1,
        }
    }
}

/// The guesses of a process.
#[derive(Debug, Clone, Default)]
pub struct Guesses(Arc<Mutex<HashMap<String, Guess>>>);

impl Guesses {
    pub fn of(&self, walker: &str) -> Guess {
        let guesses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.get(walker).cloned().unwrap_or_default()
    }

    pub fn learn(&self, walker: &str, guess: Guess) {
        let mut guesses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if guess == Guess::default() {
            guesses.remove(walker);
            return;
        }
        if guesses.len() >= MOST && !guesses.contains_key(walker) {
            guesses.clear();
        }
        guesses.insert(walker.to_owned(), guess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_guessed_and_memory_is_bounded() {
        let guesses = Guesses::default();
        let nothing = Guess {
            reach: LeadReach::Nothing,
            page_base: 0,
        };
        guesses.learn("a", nothing.clone());
        assert_eq!(
            (guesses.of("a"), guesses.of("b")),
            (nothing.clone(), Guess::default())
        );
        guesses.learn("a", Guess::default());
        assert_eq!(guesses.of("a"), Guess::default());
        for walker in 0..5 * MOST {
            guesses.learn(&walker.to_string(), nothing.clone());
        }
        assert!(guesses.0.lock().unwrap().len() <= MOST);
    }
}
