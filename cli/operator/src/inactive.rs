//! Calendars that are published and not active, because of their users (CL006).

use std::collections::BTreeSet;

use shared::people::User;
use table::item;

use crate::{Operator, OperatorError};

impl Operator {
    /// A warning for each published calendar with a user who is inactive or missing.
    ///
    /// # Errors
    /// [`OperatorError`] if the calendars or users cannot be read.
    pub(crate) async fn inactive_calendars(&self) -> Result<Vec<String>, OperatorError> {
        let mut calendars = self.reader().calendars().await?;
        calendars.retain(|calendar| calendar.is_published);
        let users = calendars
            .iter()
            .map(|calendar| self.keys().user(calendar.user_id));
        let users = self.reads().get_items(users).await?;
        let users = users
            .into_iter()
            .filter_map(|item| item::decode::<User>("user", item).ok());
        let active: BTreeSet<_> = users.filter(|user| user.active).map(|user| user.id).collect();
        calendars.retain(|calendar| !active.contains(&calendar.user_id));
        let warning =
            |(id, user)| format!("calendar {id} cannot be booked, because user {user} is not active");
        let calendars = calendars.iter().map(|calendar| (calendar.id, calendar.user_id));
        Ok(calendars.map(warning).collect())
    }
}
