--[[
Gives  expireRetired(from)  gives a life to the keys from KEYS[from] on, which are those of the retired generation. The caller removes them; this is
                            for a caller that dies now.
]]
local function expireRetired(from)
  for i = from, #KEYS do
    redis.call('PEXPIRE', KEYS[i], 60000)
  end
end
