--[[
The field 'recent' of the metadata names the last bits that were 0 before an add set them, by their offsets: 4 bytes each, big-endian.

Gives  hasBits(key, offsets)  whether these bits are set. A copy of the string that is older than the last adds, put back by a peer, has all
                              canaries and lacks them.
]]
local function hasBits(key, offsets)
--safety:recent-bits
  for i = 1, #offsets - 3, 4 do
    if redis.call('GETBIT', key, string.format('%d', (struct.unpack('>I4', offsets, i)))) ~= 1 then return false end
  end
--end
  return true
end
