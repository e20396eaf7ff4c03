import { posix } from 'node:path';
import ts from 'typescript';

export interface Import {
  readonly from: string;
  /** A path beside `from`, or the name of a package. */
  readonly to: string;
  readonly isPackage: boolean;
  /** As it is written: `nestjs-bloom/sources`. */
  readonly specifier: string;
}

/** Sources by their path within a folder, with `/`. */
export type Sources = ReadonlyMap<string, string>;

/** All imports of a file: of values and of types, re-exports, `import()` and `require()`. */
export function importsOf(file: string, text: string): Import[] {
  const imports: Import[] = [];
  const visit = (node: ts.Node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) {
      const isPackage = !specifier.startsWith('.');
      const to = isPackage ? packageName(specifier) : pathOf(file, specifier);
      imports.push({ from: file, to, isPackage, specifier });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return imports;
}

/** Files that import one another in a circle, of types too. */
export function findCircles(sources: Sources): string[] {
  const targets = new Map<string, string[]>();
  for (const [file, text] of sources) {
    const imports = importsOf(file, text).filter(({ to, isPackage }) => !isPackage && sources.has(to));
    targets.set(
      file,
      imports.map(({ to }) => to),
    );
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    done.add(file);
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
  };
  for (const file of sources.keys()) visit(file, []);
  return circles;
}

function specifierOf(node: ts.Node): string | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
  else if (ts.isExternalModuleReference(node)) specifier = node.expression;
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    specifier = node.argument.literal;
  else if (ts.isCallExpression(node) && isImportCall(node)) specifier = node.arguments[0];
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
}

function isImportCall({ expression }: ts.CallExpression): boolean {
  return (
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require')
  );
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function pathOf(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
}
