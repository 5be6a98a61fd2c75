import { describe, expect, test } from 'bun:test';
import { decodeText } from './charset.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const ascii = (text: string, ...rest: number[]) => Buffer.concat([Buffer.from(text), bytes(...rest)]);

describe('text is decoded', () => {
  const cases: [title: string, input: Uint8Array, charset: string | null, text: string][] = [
    ['as UTF-8 by default', Buffer.from('grüße 😀'), null, 'grüße 😀'],
    ['by the header', bytes(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2), 'windows-1251', 'Привет'],
    ['from Shift_JIS', bytes(0x93, 0xfa, 0x96, 0x7b), 'Shift_JIS', '日本'],
    ['from GBK', bytes(0xd6, 0xd0, 0xce, 0xc4), 'gbk', '中文'],
    ['from EUC-KR', bytes(0xc7, 0xd1), 'euc-kr', '한'],
    ['from ISO-8859-2', bytes(0xb1), 'iso-8859-2', 'ą'],
    ['from UTF-16 with its mark', bytes(0xff, 0xfe, 0x41, 0, 0xe4, 0), null, 'Aä'],
    ['from UTF-16, big end first', bytes(0xfe, 0xff, 0, 0x41), null, 'A'],
    ['by the mark rather than the header', bytes(0xef, 0xbb, 0xbf, 0xc3, 0xa4), 'latin1', 'ä'],
    ['by a meta element', ascii('<meta charset="koi8-r">', 0xc1), null, '<meta charset="koi8-r">а'],
    [
      'by an older meta element',
      ascii('<meta http-equiv=Content-Type content="text/html; charset=windows-1251">', 0xff),
      null,
      '<meta http-equiv=Content-Type content="text/html; charset=windows-1251">я',
    ],
    [
      'by an XML declaration',
      ascii('<?xml version="1.0" encoding="iso-8859-1"?>', 0xe4),
      null,
      '<?xml version="1.0" encoding="iso-8859-1"?>ä',
    ],
    [
      'as UTF-8 where a declaration in bytes says UTF-16',
      ascii('<meta charset=utf-16>ok'),
      null,
      '<meta charset=utf-16>ok',
    ],
    ['by looking where the name is unknown', ascii('caf', 0xe9), 'klingon', 'café'],
    ['as Windows-1252 where it is not UTF-8', ascii('caf', 0xe9, 0x80), null, 'café€'],
    ['with marks for what does not fit', bytes(0x41, 0xff, 0x42), 'utf-8', 'A\ufffdB'],
    ['where there is none', bytes(), null, ''],
  ];
  for (const [title, input, charset, text] of cases) {
    test(title, () => expect(decodeText(input, charset)).toBe(text));
  }
});
