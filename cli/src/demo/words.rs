//! Words of the demo's computed records.

/// Id and name.
pub const USERS: [(u64, &str); 5] = [
    (7, "Ana Souza"),
    (8, "Bruno Lima"),
    (9, "Carla Mendes"),
    (10, "Diego Alves"),
    (11, "Elisa Prado"),
];

pub const FIRST_NAMES: [&str; 24] = [
    "Adriana", "Alice", "André", "Bruna", "Caio", "Camila", "Cecília", "Daniel", "Débora", "Eduardo",
    "Fábio", "Flávia", "Gustavo", "Helena", "Inês", "Jorge", "Larissa", "Letícia", "Marcos", "Natália",
    "Otávio", "Paula", "Renata", "Vítor",
];

pub const LAST_NAMES: [&str; 20] = [
    "Almeida",
    "Azevedo",
    "Barbosa",
    "Batista",
    "Cardoso",
    "Castro",
    "Cavalcanti",
    "Costa",
    "Dias",
    "Farias",
    "Ferreira",
    "Freitas",
    "Gomes",
    "Machado",
    "Moraes",
    "Nogueira",
    "Ramos",
    "Rocha",
    "Teixeira",
    "Vieira",
];

/// City, state and telephone area.
pub const CITIES: [(&str, &str, u64); 8] = [
    ("São Paulo", "SP", 11),
    ("Curitiba", "PR", 41),
    ("Recife", "PE", 81),
    ("Belo Horizonte", "MG", 31),
    ("Porto Alegre", "RS", 51),
    ("Salvador", "BA", 71),
    ("Florianópolis", "SC", 48),
    ("Goiânia", "GO", 62),
];

pub const CHANNELS: [&str; 8] = [
    "Site",
    "Site",
    "Site",
    "Google",
    "Google",
    "Instagram",
    "Indicação",
    "Feira",
];

pub const SALE_CHANNELS: [&str; 4] = ["Loja", "Site", "Telefone", "Representante"];

pub const LOSSES: [&str; 5] = [
    "Preço",
    "Preço",
    "Sem orçamento",
    "Escolheu o concorrente",
    "Sem retorno",
];

/// Title, and price in units of the currency.
pub const PRODUCTS: [(&str, u64); 20] = [
    ("Cesta de café da manhã para eventos", 900),
    ("Contrato mensal de pães e bolos", 3200),
    ("Óculos de grau, armação leve", 1100),
    ("Lentes progressivas", 1800),
    ("Reforma da recepção", 12_500),
    ("Projeto de iluminação", 7400),
    ("Manutenção preventiva do ar-condicionado", 2600),
    ("Uniformes de inverno", 4800),
    ("Cadeiras ergonômicas", 9600),
    ("Mesas para o refeitório", 6700),
    ("Identidade visual da loja nova", 5400),
    ("Fotografia de produtos", 1500),
    ("Sinalização da fachada", 3900),
    ("Plano anual do sistema de pedidos", 2400),
    ("Treinamento da equipe de vendas", 4200),
    ("Kit de boas-vindas", 1300),
    ("Limpeza de estofados", 800),
    ("Pintura do salão", 8800),
    ("Consultoria de estoque", 5100),
    ("Buffet de fim de ano", 10_400),
];
