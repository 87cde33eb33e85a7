"""Where the code that made an asset can be read on the web, if that is configured."""

from dataclasses import dataclass

from resources import environment


@dataclass(frozen=True, slots=True)
class Repository:
    """The web address of a repository on GitHub or GitLab, and a branch, tag or commit of it."""

    url: str
    revision: str

    @classmethod
    def from_environment(cls) -> "Repository | None":
        """The repository at `HCG_REPOSITORY_URL`, at `HCG_REPOSITORY_REVISION` (main); None where no URL is set."""
        url = environment.text("HCG_REPOSITORY_URL")
        if url is None:
            return None
        return cls(url.rstrip("/").removesuffix(".git"), environment.text("HCG_REPOSITORY_REVISION") or "main")
