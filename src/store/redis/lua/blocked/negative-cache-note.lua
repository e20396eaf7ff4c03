--[[
Notes that the database denied an id.

KEYS[1]  meta
KEYS[2]  table of the negative cache
ARGV[1]  name of the table as the caller knows it
ARGV[2]  bucket
ARGV[3]  digest
ARGV[4]  time of the server, in milliseconds, before the database was asked
ARGV[5]  life of the denial, in milliseconds

Reply: 'STALE'  meta names another table
       'LOST'   the bucket is not there, or is of another table
       'MARKED' the row of an id of this bucket may not have been visible when the database was asked
       'OK'
]]
--- @include "negative-cache-table"
--- @include "negative-cache-tag"
--- @include "now"
if not isTable(KEYS[1], ARGV[1]) then return 'STALE' end
local bucket, from = bucketOf(KEYS[2], ARGV[2])
if not bucket then return 'LOST' end
local tag, visibleAt = struct.unpack('<I4d', bucket)
if tag ~= tagOf(ARGV[1]) then return 'LOST' end
--safety:denial-refusal
if visibleAt >= tonumber(ARGV[4]) then return 'MARKED' end
--end
local place, earliest
for entry = 13, 85, 24 do
  local ends = struct.unpack('<d', bucket, entry)
  if string.sub(bucket, entry + 8, entry + 23) == ARGV[3] then ends = -1 end
  if not earliest or ends < earliest then place, earliest = entry, ends end
end
local ends = now() + ARGV[5]
redis.call('SETRANGE', KEYS[2], string.format('%d', from + place - 1), struct.pack('<d', ends) .. ARGV[3])
return 'OK'
