--[[
Reports which ids the database denied lately.

KEYS[1]  meta
KEYS[2]  table of the negative cache
ARGV[1]  name of the table as the caller knows it
ARGV[2]  records of 20 bytes, one for each id: bucket, big-endian (4), digest (16)

Reply: 'STALE' when meta names another table
       'LOST'  when a bucket is not there, or is of another table
       { time of the server in milliseconds, a character for each id: '1' when it is denied }
]]
--- @include "negative-cache-table"
--- @include "negative-cache-tag"
--- @include "now"
if not isTable(KEYS[1], ARGV[1]) then return 'STALE' end
local tag, time = tagOf(ARGV[1]), now()
local flags = {}
for at = 1, #ARGV[2], 20 do
  local number, digest = struct.unpack('>I4c16', ARGV[2], at)
  local bucket = bucketOf(KEYS[2], number)
  if not bucket or struct.unpack('<I4', bucket) ~= tag then return 'LOST' end
  local flag = '0'
  for entry = 13, 85, 24 do
    if string.sub(bucket, entry + 8, entry + 23) == digest and struct.unpack('<d', bucket, entry) > time then flag = '1' end
  end
  flags[#flags + 1] = flag
end
return { string.format('%d', time), table.concat(flags) }
