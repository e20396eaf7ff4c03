import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

/** A block of TypeScript in a page. Its first line is a comment that names the file. */
export interface DocumentedFile {
  readonly name: string;
  readonly text: string;
}

/** All blocks of TypeScript in a page, in their order. */
export function filesOf(page: string): DocumentedFile[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => ({
    name: /^\/\/ (\S+\.ts)$/m.exec(code!.split('\n')[0]!)?.[1] ?? '',
    text: code!,
  }));
}

/**
 * What the compiler says of the blocks of these pages, each compiled as the files of an application in `root`. A page after the first one may
 * leave out the files of that.
 */
export function compileErrors(root: string, pages: readonly string[]): string[] {
  const files = new Map<string, string>();
  for (const page of pages.slice(1))
    for (const { name, text } of filesOf(pages[0]!))
      files.set(join(root, '.documented', basename(page), name), text);
  for (const page of pages)
    for (const { name, text } of filesOf(page))
      files.set(join(root, '.documented', basename(page), name), text);
  const options = compilerOptions(root);
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
  delete config.compilerOptions.noUnusedLocals;
  Object.assign(config.compilerOptions.paths, {
    'nestjs-bloom/testing': ['./src/testing/index.ts'],
    'nestjs-bloom/*': ['./src/sources/*/index.ts'],
  });
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
}
