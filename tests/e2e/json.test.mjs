// The tests' own reader of raw JSON parts.
import assert from 'node:assert/strict';
import test from 'node:test';
import {items, members} from './lib/json.mjs';

test('raw parts of JSON texts', () => {
  assert.deepEqual(members(' { "a" : [1, {"b":"}\\""}] ,"c":-1.50e3, "\\u0064":null } '), {
    a: '[1, {"b":"}\\""}]',
    c: '-1.50e3',
    d: 'null',
  });
  assert.deepEqual(members('{}'), {});
  assert.deepEqual(items('[ {"id":1} , "x,]" , 2 ]'), ['{"id":1}', '"x,]"', '2']);
  assert.deepEqual(items('[]'), []);
});
