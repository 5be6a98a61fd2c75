/** Linters of OpenAPI documents, with their recommended rules. Errors count; warnings are about style. Installed into folders of their own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { installed } from '../programs/install.ts';
import type { Suite } from './figures.ts';

type Problem = {
  readonly rule: string;
  readonly message: string;
  readonly place: string;
  readonly isError: boolean;
};

type Linter = {
  readonly name: string;
  readonly version: string;
  readonly packageName: string;
  /** the command after the program, for `openapi.json` in the current folder */
  readonly command: readonly string[];
  /** files that it needs beside the document */
  readonly files: Readonly<Record<string, string>>;
  read(output: string): readonly Problem[];
};

const spectral: Linter = {
  name: 'Spectral',
  version: '6.16.3',
  packageName: '@stoplight/spectral-cli',
  command: ['spectral', 'lint', 'openapi.json', '--ruleset', 'rules.yaml', '--format', 'json', '--quiet'],
  files: { 'rules.yaml': 'extends: ["spectral:oas"]\n' },
  read(output) {
    const found = JSON.parse(output) as {
      readonly code: string;
      readonly message: string;
      readonly path: readonly string[];
      readonly severity: number;
    }[];
    return found.map(({ code, message, path, severity }) => ({
      ...{ rule: code, message, place: path.slice(0, 3).join(' '), isError: severity === 0 },
    }));
  },
};

const redocly: Linter = {
  name: 'Redocly',
  version: '2.77.0',
  packageName: '@redocly/cli',
  command: ['redocly', 'lint', 'openapi.json', '--format=json', '--max-problems=1000'],
  files: { 'redocly.yaml': 'extends: [recommended]\n' },
  read(output) {
    const { problems } = JSON.parse(output) as {
      readonly problems: readonly {
        readonly ruleId: string;
        readonly message: string;
        readonly severity: string;
        readonly location: readonly { readonly pointer?: string }[];
      }[];
    };
    return problems.map(({ ruleId, message, severity, location }) => ({
      ...{ rule: ruleId, message, place: location[0]?.pointer ?? '', isError: severity === 'error' },
    }));
  },
};

const suiteOf = ({ name, version, packageName, command, files, read }: Linter): Suite => ({
  name,
  version,
  async run() {
    const folder = await installed(name.toLowerCase(), [`${packageName}@${version}`]);
    const scratch = await mkdtemp(join(tmpdir(), 'parlance-lint-'));
    const server = await startTestServer();
    try {
      const document = await (await fetch(`${server.http}/openapi.json`)).text();
      await Bun.write(join(scratch, 'openapi.json'), document);
      for (const [file, content] of Object.entries(files)) await Bun.write(join(scratch, file), content);
      const [program = '', ...rest] = command;
      const linter = Bun.spawn(['node', join(folder, 'node_modules/.bin', program), ...rest], {
        cwd: scratch,
        stdout: 'pipe',
        stderr: 'inherit',
        env: {
          ...process.env,
          NO_COLOR: '1',
          REDOCLY_TELEMETRY: 'off',
          REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        },
      });
      const output = await linter.stdout.text();
      await linter.exited;
      const errors = read(output).filter(({ isError }) => isError);
      const { paths } = JSON.parse(document) as { paths: Readonly<Record<string, object>> };
      const total = Object.values(paths).flatMap((path) => Object.keys(path)).length;
      const wrong = new Set(errors.map(({ place }) => place)).size;
      const failures = errors.map(({ rule, place, message }) => `${rule} at ${place}: ${message}`);
      return { passed: Math.max(0, total - wrong), total, failures };
    } finally {
      await server.stop();
      await rm(scratch, { recursive: true, force: true });
    }
  },
});

export const linters: readonly Suite[] = [spectral, redocly].map(suiteOf);
