"""A checker of DRUP proofs: every clause follows by unit propagation from those before it, the last one is empty."""

from pathlib import Path


def read_dimacs(path: Path) -> list[list[int]]:
    """The clauses of a DIMACS file."""
    lines = [line.split() for line in path.read_text().splitlines() if line[:1] not in ("c", "")]
    head, *rows = lines
    assert head[:2] == ["p", "cnf"]
    assert len(rows) == int(head[3])
    clauses = [[int(word) for word in row[:-1]] for row in rows]
    assert all(row[-1] == "0" for row in rows)
    assert all(0 < abs(literal) <= int(head[2]) for clause in clauses for literal in clause)
    return clauses


def is_proof(formula: Path, proof: Path) -> bool:
    """Whether a DRUP file proves that the clauses of a DIMACS file have no common assignment."""
    checker = Checker(read_dimacs(formula))
    for line in proof.read_text().splitlines():
        words = line.split()
        if words[:1] == ["d"]:
            continue  # what was forgotten may be used again: that proves nothing less
        clause = [int(word) for word in words[:-1]]
        if words[-1] != "0" or not checker.follows(clause):
            return False
        if not clause:
            return True
        checker.add(clause)
    return checker.follows([])


class Checker:
    """Unit propagation over a growing list of clauses, two literals of each watched."""

    def __init__(self, clauses: list[list[int]]) -> None:
        self._watching: dict[int, list[list[int]]] = {}
        self._units: list[int] = []
        self._has_empty = False
        for clause in clauses:
            self.add(clause)

    def add(self, clause: list[int]) -> None:
        """Add a clause."""
        clause = list(dict.fromkeys(clause))
        if len(clause) < 2:
            self._units += clause
            self._has_empty |= not clause
            return
        for literal in clause[:2]:
            self._watching.setdefault(literal, []).append(clause)

    def follows(self, clause: list[int]) -> bool:
        """Whether assuming that all literals of a clause are false leads to a conflict by unit propagation."""
        if self._has_empty:
            return True
        true: set[int] = set()
        queue = [*self._units, *(-literal for literal in clause)]
        while queue:
            literal = queue.pop()
            if -literal in true:
                return True
            if literal not in true:
                true.add(literal)
                if self._propagate(literal, true, queue):
                    return True
        return False

    def _propagate(self, literal: int, true: set[int], queue: list[int]) -> bool:
        """Move the watches of a literal that became false; whether a clause has no literal left."""
        kept = []
        for clause in self._watching.get(-literal, []):
            if clause[0] == -literal:
                clause[0], clause[1] = clause[1], clause[0]
            other = next((k for k in range(2, len(clause)) if -clause[k] not in true), None)
            if clause[0] not in true and other is not None:
                clause[1], clause[other] = clause[other], clause[1]
                self._watching.setdefault(clause[1], []).append(clause)
                continue
            kept.append(clause)
            if clause[0] not in true:
                queue.append(clause[0])
        self._watching[-literal] = kept
        return False
