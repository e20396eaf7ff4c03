// "npm run check:api" compares what each entry of each package but `internal` exports with its report in
// api/; "npm run api" writes the reports again after a build. A change of the public interface is then a
// change that a reviewer sees.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { packages, root } from './packages.mjs';

const REPORTS = join(root, 'api');
const update = process.argv.includes('--update');
/**
 * Types that only decide whether a decorator compiles: nobody has to name them. typedoc.json lists those that
 * TypeDoc meets.
 */
const OF_THE_COMPILER = [
  'GuardedManyVerdict',
  'GuardedVerdict',
  'ListMethod',
  'ListVerdict',
  'OtherSelf',
  'OnlyOptions',
  'RegistersVerdict',
];

/** What `nestjs-bloom` exports: no other entry has to export it as well. */
let inMainEntry = new Set();

mkdirSync(REPORTS, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), 'nestjs-bloom-api-'));
let isCurrent = true;
try {
  for (const { folder, json } of packages)
    for (const [entry, { types }] of Object.entries(json.exports))
      if (types && entry !== './internal' && !isAsReported(reportOf(json.name, entry), folder, types))
        isCurrent = false;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (!isCurrent) {
  console.error(
    'Run "npm run api", look at the difference in api/, and commit it with the change that caused it.',
  );
  process.exitCode = 1;
}

/** `nestjs-bloom/filter` is reported in filter.api.md, `@nestjs-bloom/typeorm` in typeorm.api.md. */
function reportOf(name, entry) {
  const names = [...name.split('/').slice(1), ...entry.split('/').slice(1)];
  return names.join('-') || 'index';
}

function isAsReported(name, folder, types) {
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(folder, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: join(folder, types),
      compiler: { tsconfigFilePath: join(root, 'tsconfig.build.json'), skipLibCheck: true },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: REPORTS,
        reportTempFolder: scratch,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      newlineKind: 'lf',
      tsdocMetadata: { enabled: false },
      messages: {
        // No release tags: everything that an entry exports is public.
        extractorMessageReporting: {
          default: { logLevel: 'warning', addToApiReportFile: true },
          'ae-missing-release-tag': { logLevel: 'none' },
          // Each with a line of the bundled types, which moves with every change. TypeDoc checks the texts.
          'ae-undocumented': { logLevel: 'none' },
          // What a public signature names is public too.
          'ae-forgotten-export': { logLevel: 'error' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild: update,
    messageCallback(message) {
      // The version that is bundled with the extractor reads what a newer compiler has declared.
      if (message.messageId === 'console-compiler-version-notice') message.logLevel = 'none';
      if (message.messageId === 'console-preamble') message.logLevel = 'none';
      const isForgotten = message.messageId === 'ae-forgotten-export';
      if (
        isForgotten &&
        [...OF_THE_COMPILER, ...inMainEntry].some((name) => message.text.includes(`"${name}"`))
      )
        message.logLevel = 'none';
    },
  });
  if (name === 'index') inMainEntry = exportedNames(readFileSync(join(REPORTS, 'index.api.md'), 'utf8'));
  if (update) return succeeded;
  if (apiReportChanged) console.error(`What '${name}' exports is not what api/${name}.api.md says.`);
  return succeeded && !apiReportChanged;
}

function exportedNames(report) {
  const declarations = report.matchAll(
    /^export (?:abstract class|class|const|function|interface|type) (\w+)/gm,
  );
  return new Set([...declarations].map(([, name]) => name));
}
