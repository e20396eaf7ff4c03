import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const HAS_TEXTS = /\.(messages|generated)\.ts$/;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !HAS_TEXTS.test(file),
);

/** The texts of at least three words that a file gives to the errors that it makes. */
function textsInErrors(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    const isError = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isError && /^(\w*Error)$/.test(node.expression.getText())) {
      for (const argument of node.arguments ?? []) {
        if (isSentence(argument)) found.push(`${file}: ${argument.getText()}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isSentence(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return isSentence(node.left) || isSentence(node.right);
  return (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && / .* /s.test(node.getText());
}

describe('The texts of errors', () => {
  it('stand in the messages of their room', () => {
    const found = files.flatMap((file) => textsInErrors(file, readFileSync(join('src', file), 'utf8')));
    expect(found).toEqual([]);
  });

  it.each([
    ["throw new BloomError('It does not work.');"],
    ['throw new Error(`Expected ${a}, got ${b}.`, { cause });'],
    ["throw usageError('Expected one, got ' + got + ', which is wrong.');"],
  ])('are found where they do not: %s', (text) => {
    expect(textsInErrors('a.ts', text)).toHaveLength(1);
  });

  it('name no option of a layout by a path: the user calls a function', () => {
    const named = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.messages.ts'))
      .filter((file) =>
        /\b(layout|scaling)\.(?!messages)[a-z]/.test(readFileSync(join('src', file), 'utf8')),
      );
    expect(named).toEqual([]);
  });
});
