/** The prompts that the conformance suite reads. */
import { definePrompt } from '@parlance/sdk/tools';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const text = (words: string) => ({ type: 'text' as const, text: words });

export const simple = definePrompt({
  name: 'test_simple_prompt',
  description: 'A prompt without arguments.',
  run: () => 'This is a simple prompt for testing.',
});

export const withArguments = definePrompt({
  name: 'test_prompt_with_arguments',
  description: 'A prompt with arguments.',
  arguments: [
    {
      name: 'arg1',
      description: 'First test argument',
      required: true,
      complete: (value) => ['test', 'testing', 'other'].filter((word) => word.startsWith(value)),
    },
    { name: 'arg2', description: 'Second test argument', required: true },
  ],
  run: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
});

export const embeddedResource = definePrompt({
  name: 'test_prompt_with_embedded_resource',
  description: 'A prompt with a resource.',
  arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
  run: ({ resourceUri = '' }) => [
    {
      role: 'user',
      parts: [
        {
          type: 'file',
          name: resourceUri,
          mime: 'text/plain',
          data: Buffer.from('Embedded resource content for testing.').toString('base64'),
        },
        text('Please process the embedded resource above.'),
      ],
    },
  ],
});

export const withImage = definePrompt({
  name: 'test_prompt_with_image',
  description: 'A prompt with an image.',
  run: () => [
    {
      role: 'user',
      parts: [{ type: 'image', mime: 'image/png', data: PNG }, text('Please analyze the image above.')],
    },
  ],
});

export const asks = definePrompt({
  name: 'test_input_required_result_prompt',
  description: 'A prompt that asks the user.',
  run: async (_, { client }) => {
    const answer = await client?.request('user_context', 'elicitation/create', {
      message: 'What context should the prompt use?',
      requestedSchema: {
        type: 'object',
        properties: { context: { type: 'string' } },
        required: ['context'],
      },
    });
    return `The context is ${JSON.stringify(answer?.content)}.`;
  },
});
