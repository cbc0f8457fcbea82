//! Fixtures of this module's tests: a funnel, two users, a lead.

use std::sync::Arc;

use serde_json::json;
use shared::directory::{DirectoryHead, Membership};
use shared::funnel::{Column, CustomField, Funnel, FunnelAccess};
use shared::ids::{ColumnId, FunnelId, LeadId, UserId};
use shared::opportunity_edit::ValidationContext;
use shared::settings::Settings;
use shared::time::Timestamp;
use shared::viewer::Viewer;

/// User 7, an admin of an instance in São Paulo; funnel 3 with columns 31 and 32 and three fields.
pub struct Shop {
    viewer: Viewer,
    pub funnel: Funnel,
}

impl Shop {
    pub fn new() -> Self {
        let membership = Membership {
            department: None,
            group: None,
            admin: true,
            inactive: false,
        };
        let mut settings = Settings::default();
        settings.set("timezone", &json!("America/Sao_Paulo")).unwrap();
        let directory = DirectoryHead {
            settings,
            ..DirectoryHead::default()
        };
        Self {
            viewer: Viewer::new(Arc::new(directory), user(7), membership).unwrap(),
            funnel: funnel(),
        }
    }

    /// The context of a request at noon with lead 1001 and user 8.
    pub fn context(&self) -> ValidationContext<'_> {
        ValidationContext {
            viewer: &self.viewer,
            funnel: &self.funnel,
            lead: Some(lead(1001)),
            user: Some(user(8)),
            now: at("2026-11-21T12:00:00Z"),
        }
    }
}

pub fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub fn user(id: u64) -> UserId {
    UserId::new(id).unwrap()
}

pub fn lead(id: u64) -> LeadId {
    LeadId::new(id).unwrap()
}

pub fn column(id: u64) -> ColumnId {
    ColumnId::new(id).unwrap()
}

pub fn funnel() -> Funnel {
    let column = |id| Column {
        id: column(id),
        name: format!("Coluna {id}"),
        sequence: id,
    };
    let field = |name: &str| CustomField {
        name: name.to_owned(),
        kind: "text".to_owned(),
    };
    Funnel {
        id: FunnelId::new(3).unwrap(),
        name: "Vendas".to_owned(),
        columns: vec![column(31), column(32)],
        fields: vec![field("Cor"), field(" Número do pedido "), field("Data")],
        access: FunnelAccess::default(),
    }
}
