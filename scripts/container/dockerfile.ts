/** The Dockerfile as data: stages with their steps, and the run configuration of the image. */
import { DockerfileParser } from 'dockerfile-ast';

export type Step =
  | {
      readonly kind: 'copy';
      readonly from: string | null;
      readonly sources: readonly string[];
      readonly to: string;
    }
  | { readonly kind: 'run'; readonly script: string }
  | { readonly kind: 'workdir'; readonly path: string };

export type Stage = { readonly image: string; readonly name: string | null; readonly steps: readonly Step[] };

export type Image = {
  readonly stages: readonly Stage[];
  /** from the last stage, which is the one that runs */
  readonly user: string | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[] | null;
};

type Instruction = ReturnType<ReturnType<typeof DockerfileParser.parse>['getInstructions']>[number];

export function readDockerfile(text: string): Image {
  const stages: { image: string; name: string | null; steps: Step[] }[] = [];
  const image = {
    user: null as string | null,
    environment: {} as Record<string, string>,
    volumes: [] as string[],
    entrypoint: [] as string[],
    command: [] as string[],
    healthcheck: null as string[] | null,
  };
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = wordsOf(instruction);
    const [first = ''] = words;
    switch (instruction.getKeyword()) {
      case 'FROM':
        stages.push({
          image: first,
          name: words[1]?.toUpperCase() === 'AS' ? (words[2] ?? '') : null,
          steps: [],
        });
        Object.assign(image, { user: null, environment: {}, volumes: [], healthcheck: null });
        break;
      case 'COPY':
        stages.at(-1)?.steps.push(copyOf(words, instruction.getTextContent()));
        break;
      case 'RUN':
        stages.at(-1)?.steps.push({ kind: 'run', script: joined(instruction) });
        break;
      case 'WORKDIR':
        stages.at(-1)?.steps.push({ kind: 'workdir', path: first });
        break;
      case 'ENV':
        for (const word of words)
          image.environment[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
        break;
      case 'USER':
        image.user = first;
        break;
      case 'VOLUME':
        image.volumes = arrayIn(instruction);
        break;
      case 'ENTRYPOINT':
        image.entrypoint = arrayIn(instruction);
        break;
      case 'CMD':
        image.command = arrayIn(instruction);
        break;
      case 'HEALTHCHECK':
        image.healthcheck = arrayIn(instruction);
        break;
    }
  }
  return { stages, ...image };
}

const wordsOf = (instruction: Instruction): string[] =>
  instruction.getArguments().map((argument) => argument.getValue());

/** The command for the shell, with continued lines joined. */
const joined = (instruction: Instruction): string =>
  (instruction.getArgumentsContent() ?? '').replace(/\\\s*\n\s*/g, ' ');

/** Only the form with brackets is supported: the other one would add a shell. */
function arrayIn(instruction: Instruction): string[] {
  const text = joined(instruction);
  const start = text.indexOf('[');
  if (start < 0) return [];
  return JSON.parse(text.slice(start));
}

function copyOf(words: readonly string[], text: string): Step {
  const from = /\s--from=(\S+)/.exec(text)?.[1] ?? null;
  return { kind: 'copy', from, sources: words.slice(0, -1), to: words.at(-1) ?? '' };
}
