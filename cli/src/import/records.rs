//! The records that refer to others: each reference is checked, then the good ones are written.

use std::collections::BTreeSet;

use shared::funnel::Funnel;
use shared::id::{CallId, CompanyId, LeadId};
use shared::opportunity::Opportunity;
use shared::store::operator::{CallLine, LeadLine, Outcome};

use super::record::{Kind, Record};
use super::{Chunk, Error, Import};

impl Import<'_> {
    pub(super) async fn users(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, users) = self.checked(chunk, Record::user, |import, user| {
            if let Some(department) = user.department {
                import.department_exists("department", department)?;
            }
            user.group
                .map_or(Ok(()), |group| import.group_exists("group", group))
        });
        let outcomes = self.operator.import_users(&users).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    pub(super) async fn profiles(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, profiles) = self.checked(chunk, Record::profile, |_, _| Ok(()));
        let outcomes = self.operator.import_profiles(&profiles).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    pub(super) async fn companies(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, companies) = self.checked(chunk, Record::company, |import, company| {
            company
                .owner
                .map_or(Ok(()), |owner| import.user_exists("owner", owner))
        });
        let outcomes = self.operator.import_companies(&companies).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    pub(super) async fn leads(&mut self, chunk: Chunk) -> Result<(), Error> {
        let companies = chunk.iter().filter_map(|(_, record)| match record {
            Record::Lead(line) => line.lead.company,
            _ => None,
        });
        let companies = self.operator.existing_companies(companies).await?;
        let (lines, leads) = self.checked(chunk, Record::lead, |import, line| {
            import.lead_refers(line, &companies)
        });
        let outcomes = self.operator.import_leads(leads, self.overwrite).await?;
        // Every reader reads all notices, so there are never more than a chunk's.
        self.operator.refresh_copies().await?;
        self.note(lines, outcomes);
        Ok(())
    }

    fn lead_refers(&self, line: &LeadLine, companies: &BTreeSet<CompanyId>) -> Result<(), String> {
        let lead = &line.lead;
        if let Some(owner) = lead.owner {
            self.user_exists("owner", owner)?;
        }
        if let Some(company) = lead.company.filter(|company| !companies.contains(company)) {
            return Err(format!("company: company {company} does not exist"));
        }
        if let Some(department) = lead.department {
            self.department_exists("department", department)?;
        }
        for user in &lead.user_access {
            self.user_exists("userAccess", *user)?;
        }
        for department in &lead.department_access {
            self.department_exists("departmentAccess", *department)?;
        }
        Ok(())
    }

    pub(super) async fn funnels(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, funnels) = self.checked(chunk, Record::funnel, Self::funnel_refers);
        let outcomes = self.operator.import_funnels(&funnels).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    fn funnel_refers(&self, funnel: &Funnel) -> Result<(), String> {
        for user in &funnel.access.users {
            self.user_exists("access.users", *user)?;
        }
        for department in &funnel.access.departments {
            self.department_exists("access.departments", *department)?;
        }
        for group in &funnel.access.groups {
            self.group_exists("access.groups", *group)?;
        }
        Ok(())
    }

    pub(super) async fn opportunities(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, opportunities) = self.checked(chunk, Record::opportunity, |import, line| {
            import.opportunity_refers(&line.opportunity)
        });
        let (operator, overwrite) = self.hand();
        let outcomes = operator.import_opportunities(opportunities, overwrite).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// Checks all references but that to the lead, which is checked where the opportunity is written (C-24).
    fn opportunity_refers(&self, opportunity: &Opportunity) -> Result<(), String> {
        let (funnel, column) = (opportunity.crm_id, opportunity.crm_column);
        match self.funnels.get(&funnel) {
            None => return Err(format!("crm_id: funnel {funnel} does not exist")),
            Some(known) if !known.has_column(column) => {
                return Err(format!("crm_column: funnel {funnel} has no column {column}"));
            }
            Some(_) => {}
        }
        self.user_exists("user", opportunity.user)?;
        if let Some(user) = opportunity.service_permission_user {
            self.user_exists("service_permission_user", user)?;
        }
        if let Some(department) = opportunity.service_permission_department {
            self.department_exists("service_permission_department", department)?;
        }
        for user in &opportunity.service_permission_users {
            self.user_exists("service_permission_users", *user)?;
        }
        for department in &opportunity.service_permission_departments {
            self.department_exists("service_permission_departments", *department)?;
        }
        Ok(())
    }

    pub(super) async fn calendars(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, calendars) = self.checked(chunk, Record::calendar, |import, line| {
            import.user_exists("userId", line.calendar.user_id)
        });
        let outcomes = self.operator.import_calendars(&calendars).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// All references but that to the user are checked where the meeting is written.
    pub(super) async fn meetings(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, meetings) = self.checked(chunk, Record::meeting, |import, line| {
            let user = line.meeting.user_id;
            user.map_or(Ok(()), |user| import.user_exists("userId", user))
        });
        let (operator, overwrite) = self.hand();
        let outcomes = operator.import_meetings(meetings, overwrite).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// All references but that to the attendant are checked where the ticket is written.
    pub(super) async fn tickets(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, tickets) = self.checked(chunk, Record::ticket, |import, line| {
            let attendant = line.ticket.attendant;
            attendant.map_or(Ok(()), |user| import.user_exists("attendant", user))
        });
        let (operator, _) = self.hand();
        let outcomes = operator.import_tickets(tickets).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// The reference to the ticket is checked where the file is written.
    pub(super) async fn files(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, files) = self.checked(chunk, Record::file, |_, _| Ok(()));
        let (operator, _) = self.hand();
        let outcomes = operator.import_files(files).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    pub(super) async fn calls(&mut self, chunk: Chunk) -> Result<(), Error> {
        let leads = chunk.iter().filter_map(|(_, record)| match record {
            Record::Call(line) => line.call.lead,
            _ => None,
        });
        let leads = self.operator.existing_leads(leads).await?;
        let (lines, calls) = self.checked(chunk, Record::call, |import, line| {
            import.user_exists("user", line.call.user)?;
            line.call.lead.map_or(Ok(()), |lead| lead_exists(lead, &leads))
        });
        let calls = calls.into_iter().map(|line| CallLine {
            with_event: self.plan.brings_event_of(line.call.id),
            ..line
        });
        let outcomes = self
            .operator
            .import_calls(calls.collect(), self.overwrite)
            .await?;
        self.note(lines, outcomes);
        Ok(())
    }

    pub(super) async fn events(&mut self, chunk: Chunk) -> Result<(), Error> {
        let leads = chunk.iter().filter_map(|(_, record)| match record {
            Record::Event(event) => Some(event.lead),
            _ => None,
        });
        let leads = self.operator.existing_leads(leads).await?;
        let mut orphaned: BTreeSet<_> = chunk
            .iter()
            .filter_map(|(_, record)| CallId::new(record.identity()))
            .collect();
        let (lines, events) = self.checked(chunk, Record::event, |import, event| {
            import.user_exists("operator", event.operator)?;
            lead_exists(event.lead, &leads)
        });
        let outcomes = self.operator.import_events(&events, self.overwrite).await?;
        for (event, outcome) in events.iter().zip(&outcomes) {
            if !matches!(outcome, Outcome::Refused(_)) {
                orphaned.remove(&event.call);
            }
        }
        if self.judged.is_none() {
            self.orphaned.extend(orphaned);
        }
        self.note(lines, outcomes);
        Ok(())
    }

    /// The records of a chunk that pass a check, and their lines; the others are told.
    pub(super) fn checked<T>(
        &mut self,
        chunk: Chunk,
        taken: impl Fn(Record) -> Option<T>,
        check: impl Fn(&Self, &T) -> Result<(), String>,
    ) -> (Vec<u64>, Vec<T>) {
        // What the operator's hand does not judge by itself is judged here in full.
        let judged_here = |record: &Record| {
            self.judged.is_some()
                && !matches!(
                    record.kind(),
                    Kind::Opportunity | Kind::Meeting | Kind::Ticket | Kind::File
                )
        };
        let (mut lines, mut records, mut good) = (Vec::new(), Vec::new(), Vec::new());
        for (line, record) in chunk {
            let here = judged_here(&record);
            let Some(record) = taken(record) else { continue };
            match check(self, &record) {
                Ok(()) if here => good.push(line),
                Ok(()) => {
                    lines.push(line);
                    records.push(record);
                }
                Err(reason) => self.tally.refuse(line, reason),
            }
        }
        let outcomes = vec![Outcome::Unchanged; good.len()];
        self.note(good, outcomes);
        (lines, records)
    }
}

fn lead_exists(lead: LeadId, leads: &BTreeSet<LeadId>) -> Result<(), String> {
    let exists = leads.contains(&lead);
    exists
        .then_some(())
        .ok_or_else(|| format!("lead: lead {lead} does not exist"))
}
