/** The version in the documents. */
export { version as VERSION } from '../../package.json' with { type: 'json' };
