"""Makes the types and the operations of the package of the contract, when the package is built."""

import keyword
import pathlib
import re
from typing import Any

import yaml
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

Schema = dict[str, Any]
METHODS = ("get", "put", "post", "delete", "patch")
FORM = "application/x-www-form-urlencoded"


def snake(name: str) -> str:
    """`existingElementsVisible`, `If-Match` and `from` as names of Python."""
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").lower()
    return parts + "_" if keyword.iskeyword(parts) else parts


class Types:
    """The schemas of the contract as typed dictionaries, which stay JSON and keep members of later versions."""

    def __init__(self, document: Schema) -> None:
        self.document = document
        self.names: list[str] = []
        self.lines: list[str] = []

    def resolve(self, value: Schema) -> Schema:
        while "$ref" in value:
            found: Any = self.document
            for name in value["$ref"][2:].split("/"):
                found = found[name]
            value = found
        return value

    def add_schemas(self) -> None:
        for name, schema in self.document["components"]["schemas"].items():
            members = self.members(schema)
            if members:
                self.write_dictionary(name, *members, schema.get("description"))
            else:
                self.add(name, f"{name}: TypeAlias = {self.type_of(schema, name)!r}")

    def add_events(self) -> None:
        """What a webhook receives: the bodies of the callbacks."""
        callbacks = self.document["paths"]["/webhooks"]["post"]["callbacks"].values()
        posts = [item["post"] for callback in callbacks for item in callback.values()]
        bodies = [media["schema"] for post in posts for media in post["requestBody"]["content"].values()]
        union = f"Union[{', '.join(self.type_of(each, '') for each in bodies)}]"
        self.add("WebhookEvent", f"WebhookEvent: TypeAlias = {union!r}")

    def add(self, name: str, *lines: str) -> None:
        self.names.append(name)
        self.lines += lines

    def text(self) -> str:
        head = "# Made of openapi.yaml by generate.py.\nfrom typing import Any, Literal, TypeAlias, Union"
        return f"{head}\nfrom typing_extensions import NotRequired, TypedDict\n\n" + "\n".join(self.lines) + "\n"

    def members(self, schema: Schema) -> tuple[dict[str, Schema], set[str]] | None:
        """The members of an object and the names of those that it always has, also of its parts."""
        if "allOf" in schema and len(schema["allOf"]) + ("properties" in schema) > 1:
            found, required = {}, set(schema.get("required", []))
            for part in [*schema["allOf"], {**schema, "allOf": []}]:
                inner = self.members(self.resolve(part))
                if inner:
                    found.update(inner[0])
                    required.update(inner[1])
                required.update(self.resolve(part).get("required", []))
            return found, required
        if not schema.get("properties"):
            return None
        return schema["properties"], set(schema.get("required", []))

    def write_dictionary(
        self, name: str, members: dict[str, Schema], required: set[str], description: str | None
    ) -> None:
        typed = {}
        for member, schema in members.items():
            type_ = self.type_of(schema, name + re.sub(r"\W", "", member[:1].upper() + member[1:]))
            typed[member] = repr(type_) if member in required else f"NotRequired[{type_!r}]"
        if all(member.isidentifier() and not keyword.iskeyword(member) for member in typed):
            docs = [f"    {' '.join(description.split())!r}"] if description else []
            self.add(name, f"class {name}(TypedDict):", *docs, *(f"    {each}: {type_}" for each, type_ in typed.items()))
        else:
            items = ", ".join(f"{member!r}: {type_}" for member, type_ in typed.items())
            self.add(name, f"{name} = TypedDict({name!r}, {{{items}}})")

    def type_of(self, schema: Schema, name: str) -> str:
        """The type of a schema; `name` is for one that has no name of its own."""
        type_ = self.type_without_null(schema, name)
        return f"Union[{type_}, None]" if schema.get("nullable") else type_

    def type_without_null(self, schema: Schema, name: str) -> str:
        if "$ref" in schema:
            return str(schema["$ref"].split("/")[-1])
        if "enum" in schema:
            return f"Literal[{', '.join(repr(each) for each in schema['enum'] if each is not None)}]"
        for alternatives in ("oneOf", "anyOf"):
            if alternatives in schema:
                parts = [self.type_of(each, f"{name}{at}") for at, each in enumerate(schema[alternatives])]
                return f"Union[{', '.join(parts)}]"
        members = self.members(schema)
        if members:
            self.write_dictionary(name, *members, schema.get("description"))
            return name
        if "allOf" in schema:
            return self.type_of(schema["allOf"][0], name)
        kind = schema.get("type")
        if kind == "array":
            items = self.type_of(schema.get("items", {}), name + "Item")
            return f"Union[list[{items}], {items}]" if schema.get("x-or-text") else f"list[{items}]"
        if kind == "object":
            values = schema.get("additionalProperties", {})
            return f"dict[str, {self.type_of(values, name + 'Value') if isinstance(values, dict) else 'Any'}]"
        if kind == "string":
            return "bytes" if schema.get("format") == "binary" else "str"
        return {"integer": "int", "number": "float", "boolean": "bool"}.get(str(kind), "Any")


def media_type(content: Schema) -> str | None:
    """The media type that is sent or asked for unless a call names another."""
    return "application/json" if "application/json" in content else next(iter(content), None)


class Operations:
    """The operations of the contract: a table, and their methods with and without `async`."""

    def __init__(self, document: Schema, types: Types) -> None:
        self.types = types
        self.found = [
            self.describe(path, method, item)
            for path, item in document["paths"].items()
            for method in METHODS
            if method in item
        ]

    def describe(self, path: str, method: str, item: Schema) -> Schema:
        operation = item[method]
        given = [self.types.resolve(each) for each in [*item.get("parameters", []), *operation.get("parameters", [])]]
        request = self.types.resolve(operation.get("requestBody") or operation.get("x-ignored-body", {}))
        if request.get("x-or-absent"):
            request = {**request, "required": False}
        answers = [
            self.types.resolve(response)
            for status, response in operation["responses"].items()
            if str(status).startswith("2")
        ]
        results: dict[str, list[str]] = {}
        for answer in answers:
            for each, media in answer.get("content", {}).items():
                results.setdefault(each, []).append(self.result(each, media["schema"], operation["operationId"]))
        produced = media_type(results)
        return {
            **{"id": operation["operationId"], "summary": operation.get("summary", ""), "path": path},
            **{"method": method.upper(), "given": given, "is_public": operation.get("security") == []},
            "request": request,
            "results": results,
            "accept": produced,
            "item": self.item(answers, produced),
            "is_empty": any(not answer.get("content") for answer in answers),
        }

    def result(self, media: str, schema: Schema, name: str) -> str:
        if media.endswith("json") and not media.endswith("ndjson"):
            return self.types.type_of(schema, name[0].upper() + name[1:] + "Result")
        is_text = re.match(r"text/|image/svg|application/(jose|xml|yaml|x-ndjson)$", media)
        return "str" if is_text else "bytes"

    def item(self, answers: list[Schema], media: str | None) -> str:
        schema = answers[0].get("content", {}).get(media, {}).get("schema", {})
        whole = self.types.resolve(schema)
        values = whole if whole.get("type") == "array" else whole.get("properties", {}).get("values")
        if values and "items" in values:
            return self.types.type_of(values["items"], f"{schema.get('$ref', '').split('/')[-1]}ValuesItem")
        return self.types.type_of(schema, "Page")

    def table(self) -> str:
        lines = []
        for each in self.found:
            names = {
                place: [parameter["name"] for parameter in each["given"] if parameter["in"] == place]
                for place in ("query", "header")
            }
            facts = [each["method"], each["path"], names["query"], names["header"]]
            facts += [media_type(each["request"].get("content", {})), each["accept"], each["is_public"]]
            lines.append(f"    {each['id']!r}: Operation({', '.join(map(repr, facts))}),")
        return "\n".join(["OPERATIONS: dict[str, Operation] = {", *lines, "}"])

    def signature(self, each: Schema) -> tuple[list[str], list[str], str]:
        """The parameters of a method before and after `*`, and what it hands on."""
        first, later, given = [], [], []
        for parameter in each["given"]:
            name = snake(parameter["name"])
            given.append(f"{parameter['name']!r}: {name}")
            type_ = self.types.type_of(parameter.get("schema", {}), "")
            if parameter["in"] == "path":
                first.append(f"{name}: {type_}")
            else:
                later.append(f"{name}: {type_}" if parameter.get("required") else f"{name}: {type_} | None = None")
        content = each["request"].get("content")
        if content:
            media = media_type(content)
            is_object = media in ("application/json", FORM)
            type_ = self.types.type_of(content[media]["schema"], "") if is_object else "bytes"
            first.append(f"body: {type_}" if each["request"].get("required") else f"body: {type_} | None = None")
            given.append("'body': body")
            if not is_object:
                later.insert(0, f"content_type: Literal[{', '.join(map(repr, content))}]")
                given.append("'contentType': content_type")
        return first, later, "{" + ", ".join(given) + "}"

    def methods(self, prefix: str) -> list[str]:
        wait = "await " if prefix else ""
        lines = []
        for each in self.found:
            first, later, given = self.signature(each)
            name = snake(each["id"])
            types = {media: " | ".join(dict.fromkeys(found)) for media, found in each["results"].items()}
            returned = {media: f"{type_} | None" if each["is_empty"] else type_ for media, type_ in types.items()}

            def head(accept: list[str], type_: str) -> str:
                every = ["self", *first, *(["*", *later, *accept] if later or accept else [])]
                return f"    {prefix}def {name}({', '.join(every)}) -> {type_}:"

            call = f"{wait}self._call({each['id']!r}, {given}"
            docs = f"        {each['summary']!r}"
            if len(returned) < 2:
                type_ = next(iter(returned.values()), "None")
                lines += [head([], type_), docs, f"        return cast({type_!r}, {call}, None))"]
                continue
            for media, type_ in returned.items():
                default = " | None = None" if media == each["accept"] else ""
                lines += ["    @overload", head([f"accept: Literal[{media!r}]{default}"], type_).rstrip() + " ..."]
            lines += [head(["accept: str | None = None"], "Any"), docs, f"        return {call}, accept)"]
        return lines

    def iterators(self, prefix: str) -> list[str]:
        lines = []
        for each in self.found:
            first, later, given = self.signature(each)
            kept = [parameter for parameter in later if not parameter.startswith("cursor:")]
            if len(kept) == len(later):
                continue
            every = ["self", *first, *(["*", *kept] if kept else [])]
            given = given.replace("'cursor': cursor", "'cursor': None")
            lines += [
                f"    def {snake(each['id'])}({', '.join(every)}) -> {prefix}Iterator[{each['item']}]:",
                f"        {each['summary']!r}",
                f"        return self._items({each['id']!r}, {given})",
            ]
        return lines

    def text(self) -> str:
        lines = ["# Made of openapi.yaml by generate.py.", "from __future__ import annotations"]
        lines += ["from collections.abc import AsyncIterator, Awaitable, Callable, Iterator"]
        lines += ["from typing import Any, Literal, Union, cast, overload", "from ._operation import Operation"]
        lines += [f"from ._contract import {', '.join(self.types.names)}", "", self.table()]
        call = "Callable[[str, dict[str, Any], str | None], {}]"
        for prefix, result in (("", "Any"), ("Async", "Awaitable[Any]")):
            word = "async " if prefix else ""
            lines += [f"class {prefix}Operations:", f"    _call: {call.format(result)}", *self.methods(word)]
            items = f"Callable[[str, dict[str, Any]], {prefix}Iterator[Any]]"
            lines += [f"class {prefix}Iterators:", f"    def __init__(self, items: {items}) -> None:"]
            lines += ["        self._items = items", *self.iterators(prefix)]
        return "\n".join(lines) + "\n"


def generate(contract: pathlib.Path, package: pathlib.Path) -> None:
    """Writes `_contract.py` and `_operations.py`."""
    document = yaml.load(contract.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    types = Types(document)
    types.add_schemas()
    types.add_events()
    # Results without a name of their own are types, too.
    operations = Operations(document, types).text()
    (package / "_contract.py").write_text(types.text(), "utf-8")
    (package / "_operations.py").write_text(operations, "utf-8")


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = pathlib.Path(self.root)
        contract = root.parent.parent / "openapi.yaml"
        # A source distribution has no contract but what was made of it.
        if contract.exists():
            generate(contract, root / "src" / "accord_client")
