#!/usr/bin/env python3
"""Compares the systems. README.md describes how.

  compare.py load [NAME…]     loads the data
  compare.py run [NAME…]      measures, and prints a table
  compare.py check [NAME…]    compares what the systems find in data that nobody has changed
"""

import argparse
import itertools
import multiprocessing
import os
import signal
import statistics
import sys
import time
from datetime import date

import common
import data
from espocrm import EspoCrm
from funil import Funil
from odoo import Odoo
from pocketbase import PocketBase

SYSTEMS = {"funil": Funil, "odoo": Odoo, "espocrm": EspoCrm, "pocketbase": PocketBase}
CLIENTS = 4


def works(choice):
    """The pieces of work by name: what a client asks a system in its request number n."""
    return {
        "one lead": lambda system, client, n: bool(system.lead(client, choice.lead(n)["number"])),
        "page of leads": lambda system, client, n: system.leads(client),
        "far page of leads, asked alone": lambda system, client, n: system.leads(client, choice.far_page(n, common.PAGE)),
        "lead found by full name": lambda system, client, n: system.leads(client, text=choice.full_name(n)),
        "leads found by first name, 2.5 %": lambda system, client, n: system.leads(client, text=choice.lead(n)["first"]),
        "board": lambda system, client, n: system.board(client),
        "board searched, 0.01 % found": lambda system, client, n: system.board(client, choice.title(n)),
        "board searched, 5 % found": lambda system, client, n: system.board(client, data.PRODUCTS[n % 20]),
        "page of a column": lambda system, client, n: system.column(client, n // 10 % 6, n % 10),
        "opportunities of a lead": lambda system, client, n: system.of_lead(client, choice.lead(n)["number"]),
        "report by column": lambda system, client, n: system.report(client),
        "create a lead": lambda system, client, n: system.new_lead(client, data.new_lead(n)),
        "create an opportunity": lambda system, client, n: system.new_opportunity(client, choice.opportunity(n)),
        "move an opportunity": lambda system, client, n: system.move(
            client, choice.opportunity(n)["number"], (choice.opportunity(n)["column"] + 1) % 6),
    }


def send(system, work, first, count, seconds):
    """Sends requests with one client until there are enough or time is up; returns how many, and the time they took."""
    client, begin = system.client(), time.monotonic()
    for sent in range(1, count + 1):
        work(system, client, first + sent)
        taken = time.monotonic() - begin
        if taken > seconds:
            break
    return sent, taken


def alone(system, work, first, options):
    """The processor time per request in ms, and the requests a second, of one client."""
    before = common.cpu(system.roots())
    sent, taken = send(system, work, first, options.requests, options.seconds)
    # What a request leaves to be done afterwards counts too.
    time.sleep(0.5)
    return (common.cpu(system.roots()) - before) / sent * 1000, sent / taken


def together(system, work, first, options):
    """The requests a second of several clients."""
    def client(number):
        sent, taken = send(system, work, first + number * 10_000, options.requests * 100, options.seconds)
        os.write(out, f"{sent / taken}\n".encode())

    ends, out = os.pipe()
    processes = [multiprocessing.get_context("fork").Process(target=client, args=(n,)) for n in range(CLIENTS)]
    for process in processes:
        process.start()
    os.close(out)
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit("a client failed")
    with open(ends) as rates:
        return sum(map(float, rates))


def measure(systems, chosen, options):
    numbers, results = itertools.count(options.first, 50_000), {}
    for name, work in chosen.items():
        # Every process of a server has to have been used.
        for system in systems:
            together(system, work, next(numbers), argparse.Namespace(requests=1, seconds=3))
        rounds = {system.name: [] for system in systems}
        for _ in range(options.rounds):
            first = next(numbers)
            for system in systems:
                rounds[system.name].append(alone(system, work, first, options))
        first = next(numbers)
        for system in systems:
            costs, rates = zip(*rounds[system.name])
            rate = together(system, work, first, options) if options.clients else 0
            results[name, system.name] = statistics.median(costs), statistics.median(rates), rate
        print(name, {system.name: results[name, system.name] for system in systems}, file=sys.stderr, flush=True)
    return results


def seconds(system):
    """The file with the time that loading took."""
    return common.RUN / f"{system.name}.seconds"


def table(systems, chosen, results, options):
    print(f"{date.today()}, {os.cpu_count()} cores, load before {options.load:.1f}; {data.LEADS:,} leads, "
          f"{data.OPPORTUNITIES:,} opportunities")
    for system in systems:
        before, after = options.sizes[system.name] / 1e6, system.size() / 1e6
        print(f"- {system.version()}: loaded in {seconds(system).read_text()} s; on disk {before:,.0f} MB, "
              f"after this run {after:,.0f} MB")
    peers = [system.name for system in systems if system.name != "Funil"] if "Funil" in options.sizes else []
    heads = [f"{system.name}, ms" for system in systems] + [f"{peer} ÷ Funil" for peer in peers]
    if options.clients:
        heads += [f"{system.name}, 1 and {CLIENTS} clients" for system in systems]
    print("\n| work |", " | ".join(heads), "|\n| --- |" + " --: |" * len(heads))
    for name in chosen:
        costs = {system.name: results[name, system.name][0] for system in systems}
        row = [f"{cost:.3g}" for cost in costs.values()] + [f"{costs[peer] / costs['Funil']:.2f}" for peer in peers]
        if options.clients:
            row += ["{1:,.0f}, {2:,.0f}".format(*results[name, system.name]) for system in systems]
        print(f"| {name} |", " | ".join(row), "|")


def check(systems, chosen):
    """Systems that find different numbers of records do not do the same work."""
    clients = {system.name: system.client() for system in systems}
    for (name, work), n in itertools.product(chosen.items(), (1, 2, 77)):
        if not name.startswith(("create", "move")):
            found = {system.name: work(system, clients[system.name], n) for system in systems}
            print("same" if len(set(found.values())) == 1 else "DIFFERENT", name, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["load", "run", "check"])
    parser.add_argument("systems", nargs="*", metavar="NAME", help="funil, odoo, espocrm, pocketbase [default: all]")
    parser.add_argument("--requests", type=int, default=300, help="per round [300]")
    parser.add_argument("--seconds", type=float, default=4, help="per round at most [4]")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts [3]")
    parser.add_argument("--work", default="", help="part of the name of a work")
    parser.add_argument("--first", type=int, default=0, help="number of the first request; a rerun takes a higher one")
    parser.add_argument("--no-clients", dest="clients", action="store_false", help="measures no throughput")
    options = parser.parse_args()
    # Ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options.load = os.getloadavg()[0]
    common.RUN.mkdir(parents=True, exist_ok=True)
    systems = [SYSTEMS[name]() for name in options.systems or SYSTEMS]
    if options.action == "load":
        for system in systems:
            begin = time.monotonic()
            try:
                system.load()
            finally:
                system.stop()
            seconds(system).write_text(f"{time.monotonic() - begin:.0f}")
            print(f"{system.name}: loaded in {seconds(system).read_text()} s")
        return
    try:
        for system in systems:
            system.start()
        options.sizes = {system.name: system.size() for system in systems}
        chosen = {name: work for name, work in works(data.Choice()).items() if options.work in name}
        if options.action == "check":
            check(systems, chosen)
        else:
            table(systems, chosen, measure(systems, chosen, options), options)
    finally:
        for system in systems:
            system.stop()


if __name__ == "__main__":
    main()
