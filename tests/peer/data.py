"""The data that every system gets: a pure function of the numbers below."""

import itertools
import os
import random
from datetime import datetime, timedelta

LEADS = int(os.environ.get("PEER_LEADS", 20_000))
OPPORTUNITIES = int(os.environ.get("PEER_OPPORTUNITIES", 100_000))
USERS = 20
COLUMNS = ["Prospecting", "Qualification", "Proposal", "Negotiation", "Contract", "Payment"]
SHARES = [30, 20, 15, 15, 10, 10]
DAYS = 320
END = datetime(2026, 11, 22)
# The report covers the last days of the data.
REPORT_FROM = END - timedelta(days=90)

# No name or product is part of another or of an invented word, so that systems that search for words, for beginnings
# and for parts of words find the same records.
FIRST = """Adriana Beatriz Carlos Daniela Eduardo Fernanda Gustavo Helena Igor Juliana Katia Leandro Marcelo Natalia
Otavio Patricia Quiteria Ricardo Sandra Tatiana Ulisses Vanessa Wagner Xavier Yasmin Zilda Antonio Bruno Cecilia
Diego Elisa Fabio Gabriela Henrique Isabel Joaquim Larissa Mauricio Norberto Priscila""".split()
PRODUCTS = """Reforma Contrato Pedido Plano Projeto Curso Seguro Mobilia Viagem Consulta Software Uniforme Energia
Pintura Limpeza Transporte Fachada Jardim Elevador Auditoria""".split()
WORDS = ["".join(syllables).capitalize() for syllables in
         itertools.product("bro dul fen gri kal mos nav pex".split(), repeat=3)][:500]
CITIES = ["Curitiba", "Recife", "Santos", "Manaus", "Goiania", "Niteroi", "Campinas", "Belem"]


def created(number, count):
    """Records are created at even intervals, in the order of their numbers."""
    return (END - timedelta(days=DAYS) * (1 - number / count)).replace(microsecond=0)


def leads():
    draw = random.Random(1)
    for number in range(1, LEADS + 1):
        first, last = draw.choice(FIRST), draw.choice(WORDS)
        yield {
            "number": number, "first": first, "last": last, "email": f"{first}.{last}.{number}@example.com".lower(),
            "phone": f"+55419{number:08}", "city": draw.choice(CITIES), "user": draw.randint(1, USERS),
            "created": created(number, LEADS),
        }


def opportunities():
    draw = random.Random(2)
    for number in range(1, OPPORTUNITIES + 1):
        yield {
            "number": number, "title": f"{draw.choice(PRODUCTS)} {draw.choice(WORDS)} {number}",
            "lead": (number - 1) % LEADS + 1, "column": draw.choices(range(6), SHARES)[0],
            "value": draw.randint(100, 5_000_000) / 100, "user": draw.randint(1, USERS),
            "created": created(number, OPPORTUNITIES),
        }


def new_lead(request):
    """A lead for a request to create one."""
    first, last = FIRST[request % 40], WORDS[request * 7 % 500]
    return {"first": first, "last": last, "email": f"{first}.{last}.new{request}@example.com".lower(),
            "phone": f"+55118{request % 10**8:08}", "city": CITIES[request % 8], "user": request % USERS + 1}


class Choice:
    """Chooses the records of request number n, so that all systems are asked for the same ones in no particular order."""

    def __init__(self):
        self.leads = list(leads())
        self.opportunities = list(opportunities())

    def lead(self, n):
        return self.leads[n * 7919 % LEADS]

    def opportunity(self, n):
        return self.opportunities[n * 7919 % OPPORTUNITIES]

    def far_page(self, n, size):
        """The offset of a page in the second half of the leads."""
        pages = LEADS // size
        return (pages // 2 + n * 31 % (pages // 2)) * size

    def full_name(self, n):
        lead = self.lead(n)
        return f"{lead['first']} {lead['last']}"

    def title(self, n):
        """The first two words of a title, which a few opportunities have."""
        return self.opportunity(n)["title"].rsplit(" ", 1)[0]
