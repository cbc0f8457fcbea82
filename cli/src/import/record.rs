//! The records of an import's lines.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use shared::automation::Automation;
use shared::call::Event;
use shared::directory::{Department, Group};
use shared::funnel::Funnel;
use shared::id::{DepartmentId, GroupId};
use shared::people::{Company, Profile, User};
use shared::phone::Phone;
use shared::store::operator::{
    CalendarLine, CallLine, LeadLine, MeetingLine, OpportunityLine, ReportLine, TicketLine,
};
use shared::ticket::{FileName, TicketFile};

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Setting,
    Department,
    Group,
    User,
    Profile,
    Company,
    Lead,
    Funnel,
    Opportunity,
    Calendar,
    Meeting,
    Ticket,
    File,
    Call,
    Event,
    Report,
    Automation,
}

impl Kind {
    /// What a line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Department => "department",
            Self::Group => "group",
            Self::User => "user",
            Self::Profile => "profile",
            Self::Company => "company",
            Self::Lead => "lead",
            Self::Funnel => "funnel",
            Self::Opportunity => "opportunity",
            Self::Calendar => "calendar",
            Self::Meeting => "meeting",
            Self::Ticket => "ticket",
            Self::File => "file",
            Self::Call => "call",
            Self::Event => "event",
            Self::Report => "report",
            Self::Automation => "automation",
        }
    }
}

/// A line's record.
#[derive(Debug, PartialEq)]
pub enum Record {
    Setting(String, Value),
    Department(DepartmentId, Department),
    Group(GroupId, Group),
    User(User),
    Profile(Profile),
    Company(Box<Company>),
    Lead(Box<LeadLine>),
    Funnel(Box<Funnel>),
    Opportunity(Box<OpportunityLine>),
    Calendar(Box<CalendarLine>),
    Meeting(Box<MeetingLine>),
    Ticket(Box<TicketLine>),
    File(Box<TicketFile>),
    Call(Box<CallLine>),
    Event(Box<Event>),
    Report(Box<ReportLine>),
    Automation(Box<Automation>),
}

impl Record {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Setting(..) => Kind::Setting,
            Self::Department(..) => Kind::Department,
            Self::Group(..) => Kind::Group,
            Self::User(_) => Kind::User,
            Self::Profile(_) => Kind::Profile,
            Self::Company(_) => Kind::Company,
            Self::Lead(_) => Kind::Lead,
            Self::Funnel(_) => Kind::Funnel,
            Self::Opportunity(_) => Kind::Opportunity,
            Self::Calendar(_) => Kind::Calendar,
            Self::Meeting(_) => Kind::Meeting,
            Self::Ticket(_) => Kind::Ticket,
            Self::File(_) => Kind::File,
            Self::Call(_) => Kind::Call,
            Self::Event(_) => Kind::Event,
            Self::Report(_) => Kind::Report,
            Self::Automation(_) => Kind::Automation,
        }
    }

    /// What two lines of one kind share that describe one record. Where it is text, a digest of it.
    pub fn identity(&self) -> u64 {
        match self {
            Self::Setting(name, _) => digest(name),
            Self::Department(id, _) => id.get(),
            Self::Group(id, _) => id.get(),
            Self::User(user) => user.id.get(),
            Self::Profile(profile) => Phone::of(&profile.number).map_or(0, |phone| digest(phone.digits())),
            Self::Company(company) => company.id.get(),
            Self::Lead(line) => line.lead.id.get(),
            Self::Funnel(funnel) => funnel.id.get(),
            Self::Opportunity(line) => line.opportunity.id.get(),
            Self::Calendar(line) => line.calendar.id.get(),
            Self::Meeting(line) => line.meeting.id.get(),
            Self::Ticket(line) => line.ticket.id.get(),
            Self::File(file) => match file.name() {
                FileName::Id(id) => digest(&format!("{id}")),
                FileName::Path(ticket, path) => digest(&format!("{ticket} {path}")),
            },
            Self::Call(line) => line.call.id.get(),
            Self::Event(event) => event.call.get(),
            Self::Report(line) => line.definition.id.get(),
            Self::Automation(automation) => automation.id.get(),
        }
    }
}

/// The record out of its variant.
macro_rules! variants {
    ($($name:ident: $variant:ident($($unbox:tt)?) -> $type:ty;)*) => {
        impl Record {$(
            pub fn $name(self) -> Option<$type> {
                match self {
                    Self::$variant(record) => Some($($unbox)? record),
                    _ => None,
                }
            }
        )*}
    };
}

variants! {
    user: User() -> User;
    profile: Profile() -> Profile;
    company: Company(*) -> Company;
    lead: Lead(*) -> LeadLine;
    funnel: Funnel(*) -> Funnel;
    opportunity: Opportunity(*) -> OpportunityLine;
    calendar: Calendar(*) -> CalendarLine;
    meeting: Meeting(*) -> MeetingLine;
    ticket: Ticket(*) -> TicketLine;
    file: File(*) -> TicketFile;
    call: Call(*) -> CallLine;
    event: Event(*) -> Event;
    definition: Report(*) -> ReportLine;
    automation: Automation(*) -> Automation;
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
