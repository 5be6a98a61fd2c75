import { describe } from 'bun:test';
import { providerSuite } from './suite.ts';

describe('the provider suite', providerSuite);
