/** Questions as forms: a flat JSON Schema, as in the elicitation of MCP and ACP, and the answers of a form. */
import {
  type Answers,
  isObject,
  type Question,
  type QuestionItem,
  type ReadAnswer,
  readAnswer,
} from '@parlance/protocol';

type Field = { readonly title: string; readonly description: string } & (
  | {
      readonly type: 'string';
      readonly enum?: string[];
      readonly format?: 'email' | 'uri' | 'date' | 'date-time';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly default?: string;
    }
  | { readonly type: 'number' | 'integer'; readonly minimum?: number; readonly maximum?: number }
  | {
      readonly type: 'array';
      readonly items: { readonly type: 'string'; readonly enum: string[] };
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly default?: string[];
    }
);

export type FormSchema = {
  readonly type: 'object';
  readonly properties: Record<string, Field>;
  readonly required: string[];
};

/** `arrays`: the client has fields with several choices; otherwise they are texts. */
export const formSchema = (
  { questions }: Pick<Question, 'questions'>,
  { arrays = true }: { readonly arrays?: boolean } = {},
): FormSchema => ({
  type: 'object',
  properties: Object.fromEntries(questions.map((item) => [item.id, fieldOf(item, arrays)])),
  required: questions.filter(({ optional, default: usual }) => !optional && !usual).map(({ id }) => id),
});

function fieldOf(item: QuestionItem, arrays: boolean): Field {
  const { header: title, text, options, multiple, freeText, format, min, max, default: usual } = item;
  const labels = options.map(({ label }) => label);
  const described = options.flatMap(({ label, description }) =>
    description || freeText || (multiple && !arrays)
      ? [`${label}${description ? `: ${description}` : ''}`]
      : [],
  );
  const about = { title, description: [text, ...described].join('\n') };
  if (labels.length > 0 && !freeText && (!multiple || arrays))
    return multiple
      ? {
          ...about,
          type: 'array',
          items: { type: 'string', enum: labels },
          ...(min !== undefined && { minItems: min }),
          ...(max !== undefined && { maxItems: max }),
          ...(usual && { default: usual }),
        }
      : { ...about, type: 'string', enum: labels, ...(usual?.[0] !== undefined && { default: usual[0] }) };
  if (format === 'number' || format === 'integer')
    return {
      ...about,
      type: format,
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
    };
  const bounds = labels.length === 0 && {
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
  };
  return {
    ...about,
    type: 'string',
    ...(format && { format }),
    ...bounds,
    ...(usual && usual.length > 0 && { default: usual.join(', ') }),
  };
}

/** Reads the fields of a form. A text may name options as a message does. */
export function formAnswers({ questions }: Pick<Question, 'questions'>, content: unknown): ReadAnswer {
  if (!isObject(content)) return { problem: 'The answer must be an object with a field for each question.' };
  const answers: Answers = {};
  for (const item of questions) {
    const value = Object.hasOwn(content, item.id) ? content[item.id] : undefined;
    const values = (Array.isArray(value) ? value : [value]).filter(
      (one) => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean',
    );
    const read = readAnswer({ questions: [item] }, values.join(item.options.length > 0 ? ', ' : ''));
    if ('problem' in read) return { problem: `${item.header}: ${read.problem}` };
    answers[item.id] = read.outcome === 'answered' ? (read.answers[item.id] ?? []) : [];
  }
  return { outcome: 'answered', answers };
}
