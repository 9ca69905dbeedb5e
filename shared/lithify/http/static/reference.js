// Draws the OpenAPI document. Everything from it is set as text, never as markup; nothing is fetched from elsewhere.
"use strict";

const METHODS = ["get", "put", "post", "delete", "patch"];
const notice = document.getElementById("notice");
const form = document.getElementById("key-form");

function make(tag, text, ...children) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

// What a schema is called: the name it has, or its type in a few words.
function nameOf(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  const several = schema.anyOf || schema.oneOf || schema.allOf;
  if (several) return several.map(nameOf).join(" | ");
  if (schema.type === "array") return `list of ${nameOf(schema.items)}`;
  return schema.type || "anything";
}

function namesIn(schema, found) {
  if (!schema || typeof schema !== "object") return found;
  if (schema.$ref) found.add(schema.$ref.split("/").pop());
  for (const below of Object.values(schema)) namesIn(below, found);
  return found;
}

function limitsOf(schema) {
  const words = { minimum: "at least", exclusiveMinimum: "above", maximum: "at most", exclusiveMaximum: "below",
    minLength: "characters, at least", maxLength: "characters, at most", minItems: "items, at least",
    maxItems: "items, at most", default: "default" };
  const told = schema || {};
  return Object.keys(words).filter((key) => key in told).map((key) => `${words[key]} ${JSON.stringify(told[key])}`).join("; ");
}

function row(name, where, schema, required, words) {
  const meaning = [words, limitsOf(schema)].filter(Boolean).join(" — ");
  return make("tr", "", make("th", "", make("code", name)), make("td", where), make("td", nameOf(schema)),
    make("td", required ? "needed" : ""), make("td", meaning));
}

function fieldTable(schema, where) {
  const needed = new Set(schema.required || []);
  const rows = Object.entries(schema.properties || {})
    .map(([name, field]) => row(name, where, field, needed.has(name), field.description));
  return make("table", "", ...rows);
}

function schemaPart(title, schema, schemas) {
  const part = make("div", "", make("p", `${title}: ${nameOf(schema)}`));
  const pending = [...namesIn(schema, new Set())];
  const drawn = new Set();
  if (schema.properties) part.append(fieldTable(schema, ""));
  while (pending.length) {
    const name = pending.shift();
    if (drawn.has(name) || !schemas[name]) continue;
    drawn.add(name);
    const box = make("details", "", make("summary", name));
    if (schemas[name].description) box.append(make("p", schemas[name].description));
    box.append(schemas[name].properties ? fieldTable(schemas[name], "") : make("p", nameOf(schemas[name])));
    part.append(box);
    pending.push(...namesIn(schemas[name], new Set()));
  }
  return part;
}

function contentOf(holder) {
  const [first] = Object.entries((holder && holder.content) || {});
  return first ? { kind: first[0], schema: first[1].schema || {} } : null;
}

function operationPart(path, method, operation, schemas) {
  const words = make("span", operation.summary || "");
  words.className = "words";
  const verb = make("span", method.toUpperCase());
  verb.className = "method";
  const part = make("details", "", make("summary", "", verb, ` ${path} `, words));
  part.addEventListener("toggle", () => {
    if (part.childElementCount > 1) return;
    if (operation.description) part.append(make("p", operation.description));
    const parameters = operation.parameters || [];
    if (parameters.length) {
      part.append(make("table", "", ...parameters.map(
        (one) => row(one.name, one.in, one.schema, one.required, one.description))));
    }
    const body = contentOf(operation.requestBody);
    if (body) part.append(schemaPart(`Body (${body.kind})`, body.schema, schemas));
    for (const [status, answer] of Object.entries(operation.responses || {})) {
      const told = contentOf(answer);
      part.append(told ? schemaPart(`${status} (${told.kind})`, told.schema, schemas)
        : make("p", `${status} ${answer.description || ""}`));
    }
  });
  return part;
}

function draw(document_) {
  const schemas = (document_.components && document_.components.schemas) || {};
  const groups = new Map();
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const method of METHODS.filter((one) => one in methods)) {
      const group = (methods[method].tags || ["other"])[0];
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(operationPart(path, method, methods[method], schemas));
    }
  }
  document.getElementById("version").textContent = document_.info.version;
  for (const [group, parts] of groups) {
    const heading = make("h2", group);
    heading.id = `group-${group}`;
    const link = make("a", group);
    link.href = `#group-${group}`;
    document.getElementById("contents").append(link);
    document.getElementById("operations").append(heading, ...parts);
  }
  notice.textContent = "";
  notice.append("Open a call to see what it takes and answers. The same as a document: openapi.json.");
}

async function read(key) {
  const answer = await fetch("/openapi.json", key ? { headers: { Authorization: `Bearer ${key}` } } : {});
  if (answer.ok) {
    form.hidden = true;
    draw(await answer.json());
    return;
  }
  const told = await answer.json().catch(() => ({}));
  notice.textContent = told.detail || `openapi.json: ${answer.status}`;
  form.hidden = answer.status !== 401 && answer.status !== 403;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  read(document.getElementById("key").value.trim());
});
read("").catch((error) => { notice.textContent = String(error); });
