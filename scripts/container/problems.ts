/** Problems of the Dockerfile and compose.yaml, as sentences: from two linters and our own checks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import { SETTINGS } from '../../packages/server/src/config/settings.ts';
import { filesIn, ignoreRules } from './context.ts';
import { readDockerfile } from './dockerfile.ts';

/** Variables of the server that are not settings; HOST and the like are. */
const VARIABLES: ReadonlySet<string> = new Set([
  'NODE_ENV',
  'PARLANCE_CONFIG',
  ...Object.values(SETTINGS).flatMap(({ env }) => [...env]),
]);

export function dockerfileProblems(text: string, root: string, ignoreFile: string): string[] {
  const linted = validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
  if (linted.length > 0) return linted;
  const image = readDockerfile(text);
  const ignored = ignoreRules(ignoreFile);
  const problems: string[] = [];
  const stages = new Set<string>();
  for (const stage of image.stages) {
    if (!/:[^:]*\d/.test(stage.image)) problems.push(`${stage.image} has no version`);
    for (const step of stage.steps) {
      if (step.kind !== 'copy') continue;
      if (step.from !== null && !stages.has(step.from))
        problems.push(`there is no stage ${step.from} to copy from`);
      if (step.from !== null) continue;
      for (const source of step.sources)
        if (filesIn(root, source, ignored).length === 0)
          problems.push(`${source} is copied, and is not there or left out`);
    }
    if (stage.name !== null) stages.add(stage.name);
  }
  if (!/^[1-9]\d*(:[1-9]\d*)?$/.test(image.user ?? ''))
    problems.push('the image needs a USER by number that is not root');
  if (!image.healthcheck?.length) problems.push('the image has no HEALTHCHECK in brackets');
  if (!image.entrypoint.length) problems.push('the image has no ENTRYPOINT in brackets');
  if (!image.volumes.includes(image.environment.PARLANCE_DATA ?? ''))
    problems.push('the data folder is no volume');
  if (image.environment.PARLANCE_AUTH !== 'required') problems.push('the image does not require tokens');
  return [...problems, ...unknownVariables(Object.keys(image.environment))];
}

export const unknownVariables = (names: readonly string[]): string[] =>
  names.filter((name) => !VARIABLES.has(name)).map((name) => `${name} is not a setting of the server`);

type Service = {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
};

/**
 * Style rules are off, and so are rules for image names (images are built here) and published ports (the proxy needs
 * them).
 */
const RULES = {
  'no-build-and-image': 0,
  'no-unbound-port-interfaces': 0,
  'require-quotes-in-ports': 0,
  'service-keys-order': 0,
  'top-level-properties-order': 0,
} as const;

export function composeProblems(text: string): string[] {
  const linted = lintCompose(text);
  if (linted.length > 0) return linted;
  const { services } = Bun.YAML.parse(text) as { services: Record<string, Service> };
  return Object.entries(services).flatMap(([name, service]) => serviceProblems(name, service));
}

function serviceProblems(name: string, service: Service): string[] {
  const problems: string[] = [];
  if (service.read_only !== true) problems.push('its file system can be written');
  if (!service.cap_drop?.includes('ALL')) problems.push('it keeps capabilities');
  if (!service.security_opt?.includes('no-new-privileges:true')) problems.push('it can gain privileges');
  if (service.privileged) problems.push('it is privileged');
  if (name === 'parlance') {
    problems.push(...unknownVariables(Object.keys(service.environment ?? {})));
    if (!service.ports?.every((port) => port.startsWith('127.0.0.1:')))
      problems.push('it is open to the network without TLS');
  }
  return problems.map((problem) => `${name}: ${problem}`);
}

/** The linter only reads files. */
function lintCompose(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-compose-'));
  try {
    const path = join(folder, 'compose.yaml');
    writeFileSync(path, text);
    const linter = new DCLinter({ rules: RULES, quiet: false, debug: false, exclude: [] });
    return linter
      .lintFiles([path], false)
      .flatMap(({ messages }) => messages.map(({ line, message }) => `line ${line}: ${message}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
