import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Stands for what a message puts in. */
export const PUT_IN = '…';

/** Every text that the files of a folder put together; one for each branch of a condition in it. */
export function messagesOf(folder: string, pattern = /\.ts$/): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => pattern.test(file) && !file.endsWith('.generated.ts'),
  );
  return files.flatMap((file) => {
    const messages: string[] = [];
    const source = ts.createSourceFile(
      file,
      readFileSync(join(folder, file), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const visit = (node: ts.Node): void => {
      if (isText(node)) messages.push(...textsOf(node));
      ts.forEachChild(node, visit);
    };
    visit(source);
    return messages;
  });
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || isSum(node);
}

function isSum(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}

export function textsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (isSum(node)) return joined(textsOf(node.left), textsOf(node.right));
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      (texts, { expression, literal }) => joined(joined(texts, textsOf(expression)), [literal.text]),
      [node.head.text],
    );
  return [PUT_IN];
}

const joined = (heads: readonly string[], tails: readonly string[]) =>
  heads.flatMap((head) => tails.map((tail) => head + tail));
