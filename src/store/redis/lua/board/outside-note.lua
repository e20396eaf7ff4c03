--[[
Notes how far a filter has come with the rows that others write.

KEYS[1]  meta
KEYS[2]  outside: how far the filter has come
KEYS[3]  name of the process that follows, with a life
ARGV[1]  application of the caller, '' for none
ARGV[2]  name of the process that follows; '' for a note that any process may make
ARGV[3]  '1' if the mark has to be ARGV[4], else ''
ARGV[4]  the mark that the caller believes in, '' for none
ARGV[5]  and further: fields and values; a field whose value is '' is removed

Reply: 'OWNER'   the filter belongs to another application
       'HOLDER'  another process follows; nothing was noted
       'MARK'    there is another mark; nothing was noted
       'OK'
]]
--- @include "board-owner"
--- @include "now"
if isOfOthers(KEYS[1], ARGV[1]) then return 'OWNER' end
if ARGV[2] ~= '' and redis.pcall('GET', KEYS[3]) ~= ARGV[2] then return 'HOLDER' end
local mark = redis.pcall('HGET', KEYS[2], 'mark')
if type(mark) == 'table' then
  -- A key of another type was not written by this package.
  redis.call('DEL', KEYS[2])
  mark = false
end
if ARGV[3] == '1' and (mark or '') ~= ARGV[4] then return 'MARK' end
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[i])
  else
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], 'at', string.format('%.0f', now())) end
return 'OK'
