import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** A block of TypeScript in a page. Its first line is a comment that names the file. */
export interface DocumentedFile {
  readonly name: string;
  readonly text: string;
}

/** All blocks of TypeScript in a page, in their order. */
export function filesOf(page: string): DocumentedFile[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^ *```(?:[jt]sx?|typescript|javascript)\b[^\n]*\n([^]*?)^ *```$/gm)].map(
    ([, code]) => ({
      name: /^\/\/ (\S+\.ts)$/m.exec(code!.split('\n')[0]!)?.[1] ?? '',
      text: code!,
    }),
  );
}

/**
 * What the compiler says of the blocks of these pages, each compiled as the files of an application in
 * `root`. A page after the first one may leave out the files of that. A file that a later block replaces is
 * compiled too.
 *
 * @param given a folder of files that all pages may leave out.
 * @param options those that differ from ours.
 */
export function compileErrors(
  root: string,
  pages: readonly string[],
  given: string,
  options: ts.CompilerOptions = {},
): string[] {
  const files = new Map<string, string>();
  const others = readdirSync(given).map((name) => ({ name, text: readFileSync(join(given, name), 'utf8') }));
  const homeOf = (page: string) => join(root, '.documented', relative(root, page).replaceAll('/', '-'));
  for (const page of pages) {
    const own = filesOf(page);
    const isReplaced = ({ name }: DocumentedFile, i: number) =>
      own.slice(i + 1).some((one) => one.name === name);
    for (const { name, text } of [...others, ...filesOf(pages[0]!), ...own])
      files.set(join(homeOf(page), name), text);
    for (const [i, one] of own.entries())
      if (isReplaced(one, i)) files.set(join(homeOf(page), `replaced-${i}`, one.name), one.text);
  }
  return errorsIn(root, files, options);
}

/**
 * What the compiler says of the blocks of a page, each a piece of a file that leaves out what the reader has.
 * A block of filter options stands for a filter of `forFeature`, `{ … }` for the body of a method, and a line
 * with `…` for statements of the reader.
 *
 * @param given declares what the pieces leave out.
 */
export function pieceErrors(root: string, page: string, given: string): string[] {
  const files = new Map([[join(root, '.documented', 'given.d.ts'), readFileSync(given, 'utf8')]]);
  for (const [i, { text }] of filesOf(page).entries()) {
    const piece = text.replace(/\{ … \}/g, '{ throw new Error(); }').replace(/^\s*…$/gm, '');
    const code = piece.startsWith('{') ? `BloomModule.forFeature([${piece}]);` : piece;
    files.set(join(root, '.documented', basename(page), `block-${i + 1}.ts`), `${code}\nexport {};\n`);
  }
  return errorsIn(root, files);
}

function errorsIn(
  root: string,
  files: ReadonlyMap<string, string>,
  others: ts.CompilerOptions = {},
): string[] {
  const options = { ...compilerOptions(root), ...others };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, directoryExists } = host;
  const folders = new Set([...files.keys()].map((file) => dirname(file)));
  host.fileExists = (file) => files.has(file) || fileExists.call(host, file);
  host.readFile = (file) => files.get(file) ?? readFile.call(host, file);
  host.directoryExists = (folder) => folders.has(folder) || directoryExists!.call(host, folder);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (file, target, ...others) => {
    const text = files.get(file);
    return text === undefined
      ? getSourceFile(file, target, ...others)
      : ts.createSourceFile(file, text, target, true);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return problems.map(
      ({ messageText }) =>
        `${basename(dirname(file))}, ${basename(file)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}

/** Those of a strict application, in which the package is this source. */
function compilerOptions(root: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  config.files = [];
  delete config.include;
  delete config.compilerOptions.rootDir;
  // The declarations that pages leave out are checked as well; those of libraries are not asked for.
  delete config.compilerOptions.skipLibCheck;
  delete config.compilerOptions.noUnusedLocals;
  delete config.compilerOptions.noUnusedParameters;
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
}
