import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { PUT_IN, textsOf } from '../support/messages-of-source.js';

/** Functions that return advice. */
const RETURNS_ADVICE = /^(advi[sc]e\w*|\w*Advice|refusedPermissions|findSigns)$/;
/** Functions that take its text, and errors whose text is one. */
const TAKES_ADVICE = /^(advise\w*|(Marks|Board)RefusedError)$/;

interface Message {
  readonly name: string;
  readonly texts: readonly string[];
}

const parsed = (file: string) =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);

function walk(node: ts.Node, visit: (node: ts.Node) => boolean | void): void {
  if (visit(node) !== false) ts.forEachChild(node, (child) => walk(child, visit));
}

/** Exports of the files of messages that a file imports, by the name in it; `because.x` for a namespace. */
function importedMessages(source: ts.SourceFile): Map<string, Message> {
  const messages = new Map<string, Message>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const from = statement.moduleSpecifier.text;
    const bindings = statement.importClause?.namedBindings;
    if (!from.endsWith('.messages.js') || !bindings) continue;
    const space = ts.isNamespaceImport(bindings) ? `${bindings.name.text}.` : '';
    const all = messagesOfFile(join(dirname(source.fileName), from.replace(/js$/, 'ts')));
    for (const message of all) messages.set(space + message.name, message);
  }
  return messages;
}

const ofFiles = new Map<string, readonly Message[]>();

function messagesOfFile(file: string): readonly Message[] {
  const known = ofFiles.get(file);
  if (known) return known;
  const messages = parsed(file)
    .statements.flatMap((one) => (ts.isVariableStatement(one) ? [...one.declarationList.declarations] : []))
    .flatMap(({ name, initializer }) => {
      if (!initializer) return [];
      const texts = textsOf(ts.isArrowFunction(initializer) ? initializer.body : initializer);
      return [{ name: name.getText(), texts: texts.filter((text) => text !== PUT_IN) }];
    });
  ofFiles.set(file, messages);
  return messages;
}

/** What a variable of this name is made of, in the function that uses it. */
function valueOf(name: string, use: ts.Node): ts.Node | undefined {
  const scope = ts.findAncestor(use, (node) => ts.isFunctionLike(node));
  let found: ts.Node | undefined;
  if (scope)
    walk(scope, (node) => {
      if (ts.isVariableDeclaration(node) && new RegExp(`\\b${name}\\b`).test(node.name.getText()))
        found = node.initializer;
    });
  return found;
}

/** Where a file gives advice: texts of events, and what returns or takes one. */
function placesOf(source: ts.SourceFile): ts.Node[] {
  const places: ts.Node[] = [];
  walk(source, (node) => {
    if (ts.isObjectLiteralExpression(node)) {
      if (!node.properties.some((one) => /^type: 'advice'$/.test(one.getText()))) return;
      for (const property of node.properties) {
        const name = property.name?.getText() ?? '';
        if (name !== 'text' && name !== 'withoutId') continue;
        const value = ts.isPropertyAssignment(property) ? property.initializer : undefined;
        places.push(value ?? valueOf(name, node) ?? property);
      }
    } else if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) {
      if (node.body && RETURNS_ADVICE.test(node.name?.getText() ?? '')) places.push(node.body);
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = node.expression.getText().split('.').at(-1)!;
      if (TAKES_ADVICE.test(callee)) places.push(...(node.arguments ?? []));
    }
  });
  return places;
}

/** Messages that a place uses; those that are put into another one are not advice. */
function messagesIn(place: ts.Node, messages: ReadonlyMap<string, Message>): Message[] {
  const found: Message[] = [];
  walk(place, (node) => {
    const message = messages.get(ts.isCallExpression(node) ? node.expression.getText() : node.getText());
    if (message) found.push(message);
    return !message;
  });
  return found;
}

const files = ['src', ...readdirSync('packages').map((wing) => `packages/${wing}/src`)].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(generated|messages)\.ts$/.test(file))
    .map((file) => join(folder, file))
    .filter((file) => /advi[sc]e|RefusedError|refusedPermissions/i.test(readFileSync(file, 'utf8'))),
);

it('begins each advice with a code of its own', () => {
  const given = files.flatMap((file) => {
    const source = parsed(file);
    const messages = importedMessages(source);
    return placesOf(source).flatMap((place) => messagesIn(place, messages));
  });
  const withoutCode = given.filter(
    ({ texts }) => texts.length === 0 || !texts.every((text) => /^BLOOM_[A-Z_]+: /.test(text)),
  );
  expect(withoutCode.map(({ name }) => name)).toEqual([]);
  // Those of the page that are no advice are written to the log alone.
  const found = new Set(given.flatMap(({ texts }) => texts.map((text) => text.split(':')[0]!)));
  const page = readFileSync('docs/messages.md', 'utf8').split('\n## Advice\n')[1]!.split('\n## ')[0]!;
  const listed = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code!);
  expect(listed.filter((code) => !found.has(code))).toEqual([
    'BLOOM_ADVICE',
    'BLOOM_SKIPS_NOTHING',
    'BLOOM_DASHBOARD_OPEN',
    'BLOOM_NO_METER_PROVIDER',
  ]);
});
