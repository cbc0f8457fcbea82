//! Names of columns in exports of `HubSpot`, Pipedrive and RD Station, in English and Portuguese, and the fields that
//! they fill, by the main kind of the file (C-105).

use super::kind::FileKind;

/// Columns of companies.
pub const COMPANY: &[(FileKind, &str, &str)] = &[
    (
        FileKind::Company,
        "id",
        "record id|id do registro|company id|id da empresa|organization id|id",
    ),
    (
        FileKind::Company,
        "companyname",
        "company name|nome da empresa|name|nome|company|empresa|razao social|nome fantasia|organization|organizacao",
    ),
    (FileKind::Company, "cnpj", "cnpj|tax id|cpf cnpj"),
    (
        FileKind::Company,
        "companyemail",
        "email|e mail|company email|email da empresa",
    ),
    (
        FileKind::Company,
        "companyphone",
        "phone number|numero de telefone|phone|telefone|tel|fone",
    ),
    (
        FileKind::Company,
        "companyaddress",
        "street address|endereco|address|endereco da rua|logradouro",
    ),
    (FileKind::Company, "companycity", "city|cidade"),
    (
        FileKind::Company,
        "companystate",
        "state region|estado regiao|state|estado|uf",
    ),
    (
        FileKind::Company,
        "companycountry",
        "country region|pais regiao|country|pais",
    ),
    (
        FileKind::Company,
        "companyzipcode",
        "postal code|codigo postal|zip code|zip|cep",
    ),
    (
        FileKind::Company,
        "companyindustry",
        "industry|setor|segmento|ramo|industria",
    ),
    (
        FileKind::Company,
        "companynemployees",
        "number of employees|numero de funcionarios|employees|numero de colaboradores|employee count",
    ),
    (
        FileKind::Company,
        "companyannualrevenue",
        "annual revenue|receita anual|faturamento anual",
    ),
    (
        FileKind::Company,
        "owner",
        "company owner|proprietario da empresa|owner|proprietario|responsavel|vendedor",
    ),
    (
        FileKind::Company,
        "createDate",
        "create date|data de criacao|organization created|organizacao criada em|created|criado em|created at",
    ),
];

/// Columns of leads.
pub const LEAD: &[(FileKind, &str, &str)] = &[
    (
        FileKind::Lead,
        "id",
        "record id|id do registro|contact id|id do contato|lead id|id do lead|person id|id",
    ),
    (FileKind::Lead, "firstname", "first name|primeiro nome|firstname"),
    (
        FileKind::Lead,
        "lastname",
        "last name|sobrenome|surname|ultimo nome|lastname",
    ),
    (
        FileKind::Lead,
        "name",
        "name|nome|full name|nome completo|contact|contato|contact name|nome do contato|lead|cliente|customer",
    ),
    (
        FileKind::Lead,
        "email",
        "email|e mail|email address|endereco de email|email do contato|work email|email work|email home|email other|\
         e mail trabalho|e mail residencial|e mail casa|e mail outros|email trabalho",
    ),
    (
        FileKind::Lead,
        "phone",
        "phone number|numero de telefone|phone|telefone|telephone|tel|fone|telefone fixo|telefone comercial|telefone 1|telefone 2|phone work|phone home|\
         phone other|telefone trabalho|telefone residencial|telefone casa|telefone outros",
    ),
    (
        FileKind::Lead,
        "mobile",
        "mobile phone number|numero de telefone celular|numero de celular|mobile phone|mobile|celular|telefone celular|phone mobile",
    ),
    (
        FileKind::Lead,
        "chatapp",
        "whatsapp|whatsapp phone number|numero de telefone do whatsapp|numero do whatsapp|numero de whatsapp",
    ),
    (
        FileKind::Lead,
        "address",
        "street address|endereco|address|endereco da rua|rua|logradouro",
    ),
    (FileKind::Lead, "city", "city|cidade"),
    (
        FileKind::Lead,
        "state",
        "state region|estado regiao|state|estado|uf",
    ),
    (
        FileKind::Lead,
        "country",
        "country region|pais regiao|country|pais",
    ),
    (
        FileKind::Lead,
        "zipcode",
        "postal code|codigo postal|zip code|zip|cep",
    ),
    (
        FileKind::Lead,
        "owner",
        "contact owner|proprietario do contato|owner|proprietario|responsavel|dono do lead|dono|vendedor|lead owner|assigned to",
    ),
    (
        FileKind::Lead,
        "createDate",
        "create date|data de criacao|person created|pessoa criada em|created|criado em|created at|data de cadastro|\
         data da primeira conversao",
    ),
    (FileKind::Lead, "createTime", "hora de criacao"),
    (
        FileKind::Lead,
        "lastActive",
        "last activity date|data da ultima atividade|last activity|ultima atividade|data da ultima conversao",
    ),
    (
        FileKind::Lead,
        "acquisition_channel",
        "original source|fonte original|original traffic source|fonte original do trafego|lead source|origem do lead|fonte do lead|source|origem|fonte|canal|\
         origem da primeira conversao",
    ),
    (FileKind::Lead, "tags", "tags|label|etiqueta|labels|etiquetas"),
    (
        FileKind::Company,
        "id",
        "associated company ids primary|associated company ids|associated company id|primary associated company id|\
         ids de empresas associadas|id da empresa associada|organization id|id da organizacao",
    ),
    (
        FileKind::Company,
        "companyname",
        "associated company|empresa associada|company name|nome da empresa|company|empresa|organization|organizacao",
    ),
];

/// Columns of opportunities.
pub const OPPORTUNITY: &[(FileKind, &str, &str)] = &[
    (
        FileKind::Opportunity,
        "id",
        "record id|id do registro|deal id|id do negocio|opportunity id|id",
    ),
    (
        FileKind::Opportunity,
        "title",
        "deal name|nome do negocio|title|titulo|deal|negocio|opportunity|oportunidade|nome da oportunidade|nome da negociacao|\
         negociacao|name|nome|pedido|no pedido|n pedido|numero do pedido|orcamento|no orcamento|n orcamento|numero do orcamento|\
         order|order number",
    ),
    (
        FileKind::Opportunity,
        "value",
        "amount|valor|value|deal value|valor do negocio|valor unico|valor da negociacao|montante|valor total|quantia|vlr total|\
         valor liquido|valor bruto|valor r|valor do pedido|total do pedido",
    ),
    (
        FileKind::Opportunity,
        "funnel",
        "pipeline|funil|funil de vendas|funnel|deal pipeline",
    ),
    (
        FileKind::Opportunity,
        "column",
        "deal stage|etapa do negocio|fase do negocio|stage|etapa|etapa do funil|fase|estagio|pipeline stage",
    ),
    (
        FileKind::Opportunity,
        "status",
        "status|deal status|status do negocio|situacao",
    ),
    (
        FileKind::Opportunity,
        "user",
        "deal owner|proprietario do negocio|owner|proprietario|responsavel|vendedor|usuario responsavel",
    ),
    (
        FileKind::Opportunity,
        "expectedCloseDate",
        "expected close date|data de fechamento esperada|data prevista de fechamento|previsao de fechamento|\
         data esperada de fechamento|data de previsao de fechamento",
    ),
    (
        FileKind::Opportunity,
        "closeDate",
        "close date|data de fechamento|deal closed on|negocio fechado em|closed on",
    ),
    (
        FileKind::Opportunity,
        "closeTime",
        "hora de fechamento|hora do fechamento",
    ),
    (
        FileKind::Opportunity,
        "gain_date",
        "won time|ganho em|data do ganho|data de ganho",
    ),
    (
        FileKind::Opportunity,
        "lost_date",
        "lost time|data de perda|data da perda|perdido em",
    ),
    (
        FileKind::Opportunity,
        "createDate",
        "create date|data de criacao|deal created|negocio criado em|data de criacao do negocio|created|criado em|created at|data|\
         data emissao|data de emissao|emissao|data do pedido|order date",
    ),
    (FileKind::Opportunity, "createTime", "hora de criacao"),
    (
        FileKind::Opportunity,
        "updateDate",
        "last modified date|data da ultima modificacao|update time|atualizado em|updated|updated at|data da ultima atualizacao|\
         hora da atualizacao",
    ),
    (
        FileKind::Opportunity,
        "last_column_change",
        "last stage change|ultima alteracao de etapa",
    ),
    (
        FileKind::Opportunity,
        "loss_reason",
        "lost reason|motivo da perda|motivo de perda|closed lost reason|motivo do fechamento perdido|loss reason",
    ),
    (
        FileKind::Opportunity,
        "gain_reason",
        "closed won reason|motivo do fechamento ganho|motivo do ganho",
    ),
    (
        FileKind::Opportunity,
        "sale_channel",
        "source|fonte|origem|lead source|fonte do lead|origem do lead|canal|source channel|original source|fonte original|\
         original traffic source|fonte original do trafego",
    ),
    (FileKind::Opportunity, "campaign", "campaign|campanha"),
    (
        FileKind::Lead,
        "id",
        "associated contact ids|associated contact id|ids de contatos associados|id do contato associado|contact person id|\
         id da pessoa de contato",
    ),
    (
        FileKind::Lead,
        "name",
        "associated contact|contato associado|contact person|pessoa de contato|contact|contato|contatos|contact name|\
         nome do contato|cliente|nome do cliente|person",
    ),
    (
        FileKind::Lead,
        "email",
        "email|e mail|contact email|email do contato|e mail do contato|email do cliente|e mail do cliente",
    ),
    (
        FileKind::Lead,
        "phone",
        "phone|telefone|phone number|contact phone|telefone do contato|telefone do cliente|tel|fone|telefone 1|telefone 2",
    ),
    (FileKind::Lead, "mobile", "mobile|celular|telefone celular"),
    (FileKind::Lead, "chatapp", "whatsapp"),
    (
        FileKind::Company,
        "id",
        "associated company ids primary|associated company ids|associated company id|ids de empresas associadas|\
         id da empresa associada|organization id|id da organizacao",
    ),
    (
        FileKind::Company,
        "companyname",
        "associated company|empresa associada|organization|organizacao|company|empresa|company name|nome da empresa|razao social|\
         nome fantasia",
    ),
    (FileKind::Company, "cnpj", "cnpj|cnpj cpf|cpf cnpj"),
];
