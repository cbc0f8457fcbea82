//! The key for rescheduling a meeting (C-55).

use shared::ids::MeetingId;
use shared::meeting::RescheduleSecret;

/// A key is valid for one meeting, one secret and one form; a secret is not logged. The first line is the
/// secret, the second the meeting, the rest a forged key.
///
/// # Panics
/// If any of this is violated.
pub fn reschedule(data: &[u8]) {
    let Some(text) = crate::text(data) else { return };
    let mut lines = text.splitn(3, '\n');
    let secret = RescheduleSecret::stored(lines.next().unwrap_or_default());
    let id = lines.next().and_then(|id| id.parse().ok());
    let meeting = id.and_then(MeetingId::new);
    let Some(meeting) = meeting else { return };
    let made_up = lines.next().unwrap_or_default();
    let key = secret.key_of(meeting);
    assert!(key.len() == 64 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    assert!(secret.admits(meeting, &key));
    assert_eq!(secret.admits(meeting, made_up), made_up == key, "{text:?}");
    for wrong in [
        &key[1..],
        &format!("{key}0"),
        &format!(" {key}"),
        &format!("{key}{made_up}\0"),
    ] {
        assert!(!secret.admits(meeting, wrong), "{text:?}");
    }
    if let Some(next) = MeetingId::new(meeting.get() + 1) {
        assert!(!secret.admits(next, &key), "{text:?}");
    }
    assert_eq!(format!("{secret:?}"), "RescheduleSecret(…)");
}
