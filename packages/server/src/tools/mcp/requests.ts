/** What a server asks for during a call, as a question to the user, and the answer in the words of the protocol. */
import {
  type Answers,
  isObject,
  type JsonObject,
  type QuestionContent,
  type QuestionItem,
} from '@parlance/protocol';
import { cutText } from '../cut.ts';

/** A request for the user: a form or a link (`elicitation/create`), or a call of the model (`sampling/createMessage`). */
export type ServerRequest = { readonly method: string; readonly params: JsonObject };

const MAX_FIELDS = 30;
const MAX_OPTIONS = 100;
const TITLE = 2_000;
const SAMPLED = 20_000;

const choice = (item: Pick<QuestionItem, 'id' | 'header' | 'text' | 'options'>): QuestionItem => ({
  ...item,
  multiple: false,
  freeText: false,
});

const ACCEPT = 'Yes';
const DECLINE = 'No';
const YES_NO = [{ label: ACCEPT }, { label: DECLINE }];

/** Null if it cannot be asked: the request is then declined. */
export function questionOf(server: string, { method, params }: ServerRequest): QuestionContent | null {
  if (method === 'sampling/createMessage') return sampling(server, params);
  const title = `${server}: ${cutText(String(params.message ?? ''), TITLE)}`;
  if (params.mode === 'url') return link(server, title, String(params.url ?? ''));
  const fields = fieldsOf(params);
  if (!fields) return null;
  const questions = fields.map(({ item }) => item);
  if (questions.length === 0)
    return {
      purpose: 'elicitation',
      questions: [choice({ id: 'accept', header: server, text: title, options: YES_NO })],
    };
  return { purpose: 'elicitation', title, questions };
}

/** The result of the request. Null: the user declined. */
export function resultOf({ params }: ServerRequest, answers: Answers | null): JsonObject {
  if (!answers) return { action: 'decline' };
  const fields = params.mode === 'url' ? [] : (fieldsOf(params) ?? []);
  if (fields.length === 0)
    return answers.accept?.[0] === ACCEPT
      ? { action: 'accept', ...(params.mode !== 'url' && { content: {} }) }
      : { action: 'decline' };
  const content: JsonObject = {};
  for (const { item, name, valueIn } of fields) {
    const given = answers[item.id] ?? [];
    if (given.length > 0 || item.multiple) content[name] = valueIn(given);
  }
  return { action: 'accept', content };
}

export const isAllowed = (answers: Answers | null): boolean => answers?.allow?.[0] === ACCEPT;

// Forms.

type Field = {
  readonly name: string;
  readonly item: QuestionItem;
  readonly valueIn: (given: readonly string[]) => JsonObject[string];
};

const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

function fieldsOf(params: JsonObject): Field[] | null {
  const schema = params.requestedSchema;
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const entries = Object.entries(schema.properties);
  if (entries.length > MAX_FIELDS) return null;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = entries.map(([name, property], index) =>
    isObject(property)
      ? fieldOf({ name, id: String(index + 1), property, optional: !required.includes(name) })
      : null,
  );
  return fields.every((field) => field !== null) ? fields : null;
}

type Property = {
  readonly name: string;
  readonly id: string;
  readonly property: Record<string, unknown>;
  readonly optional: boolean;
};

function fieldOf({ name, id, property, optional }: Property): Field | null {
  const header = cutText(String(property.title ?? name), 60);
  const text = cutText(String(property.description ?? property.title ?? name), 1_000);
  const base = {
    id,
    header,
    text,
    options: [],
    multiple: false,
    freeText: true,
    ...(optional && { optional }),
  };
  const usual = (values: readonly string[]) =>
    property.default === undefined ? {} : { default: [...values] };
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  const bounds = (min: unknown, max: unknown) => ({
    ...(number(min) !== undefined && { min: number(min) }),
    ...(number(max) !== undefined && { max: number(max) }),
  });
  const isMultiple = property.type === 'array';
  const choices = choicesIn(isMultiple && isObject(property.items) ? property.items : property);
  if (choices) {
    if (choices.length === 0 || choices.length > MAX_OPTIONS) return null;
    const labels = labelled(choices);
    const labelOf = (value: unknown) => labels.find((one) => one.value === value)?.label ?? '';
    const valueIn = (label: string | undefined) => labels.find((one) => one.label === label)?.value ?? '';
    const defaults = (Array.isArray(property.default) ? property.default : [property.default])
      .map(labelOf)
      .filter((label) => label !== '');
    return {
      name,
      item: {
        ...base,
        options: labels.map(({ label }) => ({ label })),
        multiple: isMultiple,
        freeText: false,
        ...(isMultiple && bounds(property.minItems, property.maxItems)),
        ...(defaults.length > 0 && { default: defaults }),
      },
      valueIn: (given) => (isMultiple ? given.map(valueIn) : valueIn(given[0])),
    };
  }
  switch (property.type) {
    case 'boolean':
      return {
        name,
        item: {
          ...base,
          options: YES_NO,
          freeText: false,
          ...usual([property.default === true ? ACCEPT : DECLINE]),
        },
        valueIn: ([given]) => given === ACCEPT,
      };
    case 'number':
    case 'integer':
      return {
        name,
        item: {
          ...base,
          format: property.type,
          ...bounds(property.minimum, property.maximum),
          ...usual([String(property.default)]),
        },
        valueIn: ([given]) => Number(given),
      };
    case 'string': {
      const format = FORMATS.find((one) => one === property.format);
      return {
        name,
        item: {
          ...base,
          ...(format && { format }),
          ...bounds(property.minLength, property.maxLength),
          ...usual([String(property.default)]),
        },
        valueIn: ([given]) => given ?? '',
      };
    }
    default:
      return null;
  }
}

type Choice = { readonly value: string; readonly title: string };

/** Null if any text may be entered. */
function choicesIn(schema: Record<string, unknown>): Choice[] | null {
  const named = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf;
  if (Array.isArray(named))
    return named.flatMap((one) =>
      isObject(one) && typeof one.const === 'string'
        ? [{ value: one.const, title: String(one.title ?? one.const) }]
        : [],
    );
  if (!Array.isArray(schema.enum)) return null;
  const names: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return schema.enum.map((value, index) => ({ value: String(value), title: String(names[index] ?? value) }));
}

/** Labels identify options: equal titles get their values. */
const labelled = (choices: readonly Choice[]): { readonly value: string; readonly label: string }[] =>
  choices.map(({ value, title }) => {
    const isUnique =
      choices.filter((other) => other.title.toLowerCase() === title.toLowerCase()).length === 1;
    return { value, label: cutText(isUnique ? title : `${title} (${value})`, 200) };
  });

// Links. They are shown whole, and opened by the user alone.

function link(server: string, title: string, address: string): QuestionContent | null {
  const url = URL.parse(address);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (!url || !isSafe || url.username !== '' || url.password !== '' || url.href.length > 2_000) return null;
  const text = `The server asks you to open this address at ${url.host}. It is not Parlance's: enter there only what ${url.host} may know.\n\n${url.href}\n\nHave you opened it?`;
  return {
    purpose: 'elicitation',
    title,
    questions: [{ ...choice({ id: 'accept', header: server, text, options: YES_NO }), link: url.href }],
  };
}

// Calls of the model.

function sampling(server: string, params: JsonObject): QuestionContent | null {
  const prompt = sampledText(params);
  if (prompt === null) return null;
  const text = `${prompt}\n\nMay ${server} ask the model this? The answer goes to ${server}, and counts for your limits.`;
  return {
    purpose: 'elicitation',
    title: `${server} wants to ask the model`,
    questions: [choice({ id: 'allow', header: 'Model', text, options: YES_NO })],
    requires: 'approve',
  };
}

/** Null if it contains anything but text, or is too long to be shown whole. */
export function sampledText({ systemPrompt, messages }: JsonObject): string | null {
  if (!Array.isArray(messages)) return null;
  const lines = messages.map((message) => {
    if (!isObject(message)) return null;
    const content = Array.isArray(message.content) ? message.content : [message.content];
    const texts = content.map((part) => (isObject(part) && part.type === 'text' ? String(part.text) : null));
    return texts.includes(null) ? null : `${String(message.role)}: ${texts.join('\n')}`;
  });
  if (lines.length === 0 || lines.includes(null)) return null;
  const text = [...(systemPrompt ? [`system: ${String(systemPrompt)}`] : []), ...lines].join('\n\n');
  return text.length > SAMPLED ? null : text;
}
