//! A hundred callers for one time.

use serde_json::json;
use tests::bookings::{FREE, booking};
use tests::people::lead;

use super::{NEXT_LEAD, Sent, Tally, WEATHERS, crowded, settle};

const CALLERS: usize = 100;

/// Bodies of this number of visitors for a time.
fn visitors(date: &str) -> Vec<Sent> {
    let form = |at: usize| json!({ "formData": { "firstname": format!("Visita {at}"), "phone": format!("554198888{at:04}") } });
    (0..CALLERS).map(|at| booking(date, &form(at)).into()).collect()
}

/// C-53, C-54: exactly one books, with the next ids, and becomes a lead; the others leave nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_visitors_books() {
    for (weather, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let tally = Tally::of(&world, visitors(FREE[0])).await;
        let (booked, taken, failed) = tally.counts();
        let meetings = settle(&world, &tally).await;
        assert_eq!(meetings.len(), 1, "one has it, told or not");
        assert_eq!(
            (meetings[0].id.get(), meetings[0].lead_id),
            (1, Some(lead(NEXT_LEAD)))
        );
        assert_eq!(booked + taken + failed, 100);
        assert!(taken > 50 && booked < 2);
        if weather == "calm" {
            assert_eq!((booked, failed), (1, 0));
        }
    }
}

/// The same for existing leads: one books, and only that one becomes active.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_leads_books() {
    for (_, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let known = [1001, 1002, 1004, 1006];
        let body = |at: usize| booking(FREE[1], &json!({ "leadId": known[at % 4], "formData": {} }));
        let bodies = (0..CALLERS).map(|at| body(at).into());
        let tally = Tally::of(&world, bodies).await;
        let meetings = settle(&world, &tally).await;
        assert_eq!(meetings.len(), 1);
        let now = world.clock.get();
        let leads = world.leads().await;
        let active: Vec<_> = leads
            .iter()
            .filter(|lead| lead.last_active == now)
            .map(|lead| Some(lead.id))
            .collect();
        assert_eq!(active, [meetings[0].lead_id]);
    }
}
