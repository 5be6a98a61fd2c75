/** The resources that the conformance suite reads. */
import { defineResource } from '@parlance/sdk/tools';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

export const text = defineResource({
  uri: 'test://static-text',
  name: 'Static text',
  description: 'A text.',
  mime: 'text/plain',
  read: () => 'This is the content of the static text resource.',
});

export const binary = defineResource({
  uri: 'test://static-binary',
  name: 'Static image',
  description: 'An image.',
  mime: 'image/png',
  read: () => Buffer.from(PNG, 'base64'),
});

export const watched = defineResource({
  uri: 'test://watched-resource',
  name: 'Watched resource',
  description: 'A text that may change.',
  mime: 'text/plain',
  read: () => 'Watched.',
});

export const template = defineResource({
  uri: 'test://template/{id}/data',
  name: 'Template',
  description: 'Data of an id.',
  mime: 'application/json',
  read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
});
