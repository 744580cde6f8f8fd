"""The files of the data sets: names, checksums, and where they come from.

In: a data folder. Out: paths of files that are exactly the published ones, or an error that names the official source.
"""

import hashlib
from pathlib import Path

SOURCES = {
    "monks": "MONK's Problems, UCI Machine Learning Repository",
    "adult": "Adult, UCI Machine Learning Repository",
    "breast-cancer": "Breast Cancer (Ljubljana), UCI Machine Learning Repository",
    "mnist": "The MNIST database, LeCun, Cortes and Burges",
    "fashion-mnist": "Fashion-MNIST, Zalando Research",
    "cifar10": "CIFAR-10, binary version, Krizhevsky, packed as .tar.xz with its folder cifar-10-batches-bin",
}

SHA256 = {
    "monks/monks-1.train": "d9c328b6f0e095ab10f7bc8468f1d2141f3d08be73e665c3bf0a62994c922606",
    "monks/monks-1.test": "e501ada3b21d876ab86f3e1614747bd2edc443a685f229a25e480aa1dea629f6",
    "monks/monks-2.train": "7ebcc278005737caad0cd52e6aa31256a2c3174da8047faf4ac3a9d35edbdaa8",
    "monks/monks-2.test": "945650affde377c27f6218c8b17893e339ea831f4bee9f9d7123020699cfbf40",
    "monks/monks-3.train": "726f258f80be06af4bb2d8831789514a663f5813e47429211fe19dcd367966f8",
    "monks/monks-3.test": "1d816ae7347afaf895050667adc3f382904c6ed2332d0a2d09353f5e6cb54612",
    "adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "breast-cancer/breast-cancer.data": "ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65",
    "mnist/train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "mnist/train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "mnist/t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "mnist/t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "fashion-mnist/train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "fashion-mnist/train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "fashion-mnist/t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "fashion-mnist/t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    "cifar10/cifar-10-binary.tar.xz": "f765faf079ade9680a4ae437ab86f896cf1c0ef54c436680d5c53071ec618432",
}


class DataError(SystemExit):
    """A data file that is missing or not the published one."""


def check_file(folder: Path, name: str) -> Path:
    """The path of a file, after comparing its checksum."""
    path, source = folder / name, SOURCES[name.partition("/")[0]]
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"data must have {name}, got {error}; its official source: {source}") from error
    if found != SHA256[name]:
        raise DataError(f"{path} must have sha256 {SHA256[name]}, got {found}; its official source: {source}")
    return path
