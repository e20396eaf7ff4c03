// A loader hook of `npm run frames`: each function of src/ reports its name to `globalThis.enterFrame` when
// it is entered.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SRC = new URL('../src/', import.meta.url).href;

export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.startsWith(SRC)) return loaded;
  const file = fileURLToPath(url).slice(fileURLToPath(SRC).length);
  return { ...loaded, source: reporting(file, String(loaded.source)) };
}

function reporting(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const inserted = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const enter = `globalThis.enterFrame?.(${JSON.stringify(`${nameOf(node)}  ${file}`)})`;
      if (ts.isBlock(node.body)) inserted.push([node.body.getStart() + 1, `${enter};`]);
      else inserted.push([node.body.getStart(), `(${enter}, `], [node.body.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  // The last first, so that the places of the others stay; of two at one place, the inner one first.
  inserted.reverse().sort(([one], [other]) => other - one);
  return inserted.reduce((whole, [at, piece]) => whole.slice(0, at) + piece + whole.slice(at), text);
}

function nameOf(node) {
  const own = node.name ?? node.parent.name;
  if (ts.isConstructorDeclaration(node)) return `new ${node.parent.name?.text ?? ''}`;
  if (own === undefined) return `${node.parent === undefined ? '' : outerName(node)} (…) =>`;
  const owner = node.parent.name !== own && ts.isClassLike(node.parent) ? node.parent : node.parent.parent;
  return owner !== undefined && ts.isClassLike(owner) && owner.name
    ? `${owner.name.text}.${own.getText()}`
    : own.getText();
}

function outerName(node) {
  const outer = ts.findAncestor(
    node.parent,
    (one) => ts.isFunctionLike(one) || ts.isPropertyDeclaration(one),
  );
  return outer === undefined ? '' : nameOf(outer);
}
