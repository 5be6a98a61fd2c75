/** The tools that the conformance suite calls, as an operator would write them. */
import { defineTool, ToolError, z } from '@parlance/sdk/tools';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const common = { approval: 'never', parameters: z.looseObject({}) } as const;

const image = { type: 'image', mime: 'image/png', data: PNG } as const;

export const simpleText = defineTool({
  ...common,
  name: 'test_simple_text',
  description: 'Returns text.',
  run: () => 'This is a simple text response for testing.',
});

export const imageContent = defineTool({
  ...common,
  name: 'test_image_content',
  description: 'Returns an image.',
  run: () => ({ parts: [image] }),
});

export const audioContent = defineTool({
  ...common,
  name: 'test_audio_content',
  description: 'Returns a sound.',
  run: () => ({ parts: [{ type: 'file', name: 'sound.wav', mime: 'audio/wav', data: WAV }] }),
});

export const embeddedResource = defineTool({
  ...common,
  name: 'test_embedded_resource',
  description: 'Returns a resource.',
  run: () => ({
    parts: [
      {
        type: 'file',
        name: 'test://embedded-resource',
        mime: 'text/plain',
        data: base64('This is an embedded resource content.'),
      },
    ],
  }),
});

export const multipleContentTypes = defineTool({
  ...common,
  name: 'test_multiple_content_types',
  description: 'Returns text, an image and a resource.',
  run: () => ({
    parts: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      {
        type: 'file',
        name: 'test://mixed-content-resource',
        mime: 'application/json',
        data: base64('{"test":"data","value":123}'),
      },
    ],
  }),
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

const logging = {
  ...common,
  description: 'Logs while it runs.',
  run: async (_: object, { log }: Parameters<typeof simpleText.run>[1]) => {
    log('info', 'Tool execution started');
    await pause();
    log('info', 'Tool processing data');
    await pause();
    log('info', 'Tool execution completed');
    return 'done';
  },
};
export const withLogging = defineTool({ ...logging, name: 'test_tool_with_logging' });
export const loggingTool = defineTool({ ...logging, name: 'test_logging_tool' });

export const withProgress = defineTool({
  ...common,
  name: 'test_tool_with_progress',
  description: 'Reports progress.',
  run: async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 });
      await pause();
    }
    return 'done';
  },
});

export const errorHandling = defineTool({
  ...common,
  name: 'test_error_handling',
  description: 'Always fails.',
  run: () => {
    throw new ToolError('This tool intentionally returns an error for testing');
  },
});

const sampling = (text: string, maxTokens: number) => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens,
});

const form = (message: string, properties: Record<string, { type: string }>) => ({
  message,
  requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
});

type Client = Parameters<typeof simpleText.run>[1]['client'];

const asked = (client: Client) => {
  if (!client) throw new ToolError('There is no client to ask.');
  return client;
};

export const sample = defineTool({
  ...common,
  name: 'test_sampling',
  description: 'Asks the model of the client.',
  parameters: z.object({ prompt: z.string() }),
  run: async ({ prompt }, { client }) => {
    const { content } = await asked(client).request(
      'sample',
      'sampling/createMessage',
      sampling(prompt, 100),
    );
    return `LLM response: ${JSON.stringify(content)}`;
  },
});

export const elicit = defineTool({
  ...common,
  name: 'test_elicitation',
  description: 'Asks the user.',
  parameters: z.object({ message: z.string() }),
  run: async ({ message }, { client }) => {
    const properties = { username: { type: 'string' }, email: { type: 'string' } };
    const answer = await asked(client).request('user', 'elicitation/create', form(message, properties));
    return `User response: ${JSON.stringify(answer)}`;
  },
});

const choices = (names: readonly string[]) => names.map((title, at) => ({ const: `value${at + 1}`, title }));

const forms = {
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: choices(['First Option', 'Second Option', 'Third Option']) },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: { anyOf: choices(['First Choice', 'Second Choice', 'Third Choice']) },
    },
  },
};

const formTool = (name: keyof typeof forms) =>
  defineTool({
    ...common,
    name,
    description: 'Shows a form.',
    run: async (_, { client }) => {
      const requestedSchema = { type: 'object', properties: forms[name] };
      const params = { message: 'Please fill in the form', requestedSchema };
      const { action, content } = await asked(client).request('form', 'elicitation/create', params);
      return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
    },
  });
export const defaults = formTool('test_elicitation_sep1034_defaults');
export const enums = formTool('test_elicitation_sep1330_enums');

// Since 2026-07-28 the result of a call says what is asked.

const nameForm = form('What is your name?', { name: { type: 'string' } });
const confirmForm = form('Please confirm', { ok: { type: 'boolean' } });

const asking = (name: string, run: (client: NonNullable<Client>) => Promise<string>) =>
  defineTool({
    ...common,
    name,
    description: 'Asks the client.',
    run: (_, { client }) => run(asked(client)),
  });

export const inputElicitation = asking('test_input_required_result_elicitation', async (client) => {
  const { content } = await client.request('user_name', 'elicitation/create', nameForm);
  return `Hello, ${JSON.stringify(content)}!`;
});
export const streamingElicitation = asking('test_streaming_elicitation', async (client) =>
  JSON.stringify(await client.request('user_name', 'elicitation/create', nameForm)),
);
export const inputSampling = asking('test_input_required_result_sampling', async (client) =>
  JSON.stringify(
    await client.request(
      'capital_question',
      'sampling/createMessage',
      sampling('What is the capital of France?', 100),
    ),
  ),
);
export const inputRoots = asking('test_input_required_result_list_roots', async (client) =>
  JSON.stringify(await client.request('client_roots', 'roots/list')),
);
const confirmed = async (client: NonNullable<Client>) => {
  await client.request('confirm', 'elicitation/create', confirmForm);
  return 'state-ok';
};
export const inputState = asking('test_input_required_result_request_state', confirmed);
export const inputTampered = asking('test_input_required_result_tampered_state', confirmed);
export const inputMultiple = asking('test_input_required_result_multiple_inputs', async (client) =>
  JSON.stringify(
    await Promise.all([
      client.request('user_name', 'elicitation/create', nameForm),
      client.request('greeting', 'sampling/createMessage', sampling('Generate a greeting', 50)),
      client.request('client_roots', 'roots/list'),
    ]),
  ),
);
export const inputRounds = asking('test_input_required_result_multi_round', async (client) => {
  const first = await client.request('step1', 'elicitation/create', nameForm);
  const color = form('Step 2: What is your favorite color?', { color: { type: 'string' } });
  return JSON.stringify([first, await client.request('step2', 'elicitation/create', color)]);
});
export const inputCapabilities = asking('test_input_required_result_capabilities', async (client) => {
  const requests = [
    ...('elicitation' in client.capabilities
      ? [client.request('user_name', 'elicitation/create', nameForm)]
      : []),
    ...('sampling' in client.capabilities
      ? [client.request('greeting', 'sampling/createMessage', sampling('Generate a greeting', 50))]
      : []),
  ];
  return JSON.stringify(await Promise.all(requests));
});

export const missingCapability = defineTool({
  ...common,
  name: 'test_missing_capability',
  description: 'Needs the model of the client.',
  needs: ['sampling'],
  run: () => 'done',
});

export const toolChange = defineTool({
  ...common,
  name: 'test_trigger_tool_change',
  description: 'Announces a change of the tools.',
  run: (_, { announce }) => {
    announce('tools');
    return 'done';
  },
});
export const promptChange = defineTool({
  ...common,
  name: 'test_trigger_prompt_change',
  description: 'Announces a change of the prompts.',
  run: (_, { announce }) => {
    announce('prompts');
    return 'done';
  },
});

export const jsonSchema = defineTool({
  name: 'json_schema_2020_12_tool',
  description: 'Tool with JSON Schema 2020-12 features',
  approval: 'never',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
  run: () => 'done',
});
